import DiskStore
import OAuth
import Reactor
import Stores
import Synchronization
import Time

/// Compares the records of a file with the lines that `Sessions` wrote. Uses the ledgers of the gateway, so a lost record
/// is one that the gateway would miss too.
final class Verification: Sendable {
  /// The last lines of one sign-in.
  struct SignIn: Sendable {
    let number: Int
    var isSent = false
    var isSpent = false
    /// The latest generation that was claimed, and the latest that was answered.
    var claimed: Int?
    var answered: Int?
  }

  private let store: FileStore
  private let codes: RedemptionLedger
  private let families: RefreshLedger
  private let signIns: [SignIn]
  private let next = Atomic<Int>(0)
  private let lost = Atomic<Int>(0)
  private let running: Atomic<Int>

  init(_ store: FileStore, _ lines: [String], clients: Int) {
    self.store = store
    codes = RedemptionLedger(store: store)
    families = RefreshLedger(store: store)
    running = Atomic(clients)
    var signIns: [Int: SignIn] = [:]
    for line in lines {
      let words = line.split(separator: " ")
      guard words.count > 1, let number = Int(words[1]) else { fail("a line of another form: \(line)") }
      var signIn = signIns[number] ?? SignIn(number: number)
      switch (words[0], words.count > 2 ? Int(words[2]) : nil) {
      case ("s", nil): signIn.isSent = true
      case ("p", nil): signIn.isSpent = true
      case ("r", let generation?): signIn.claimed = max(generation, signIn.claimed ?? 0)
      case ("a", let generation?): signIn.answered = max(generation, signIn.answered ?? 0)
      default: fail("a line of another form: \(line)")
      }
      signIns[number] = signIn
    }
    self.signIns = Array(signIns.values)
  }

  /// Verifies the next sign-ins. The last of the clients ends the process, with 0 if no record is lost.
  func run() async {
    do throws(StoreError) {
      while true {
        let index = next.add(1, ordering: .relaxed).oldValue
        guard index < signIns.count else { break }
        if let problem = try await problem(of: signIns[index]) {
          lost.add(1, ordering: .relaxed)
          show("lost \(signIns[index].number): \(problem)")
        }
      }
    } catch {
      fail("\(error)")
    }
    guard running.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
    let count = lost.load(ordering: .relaxed)
    show("checked \(signIns.count) lost \(count)")
    ProcessControl.exitNow(count == 0 ? 0 : 1)
  }

  private func problem(of signIn: SignIn) async throws(StoreError) -> String? {
    if signIn.isSent {
      // Another client, so that the claim is never granted if the record exists.
      let claim = try await codes.claim(
        Load.id(signIn.number), client: ClientID("other"), verifier: Secret("other"), holder: Load.holder,
        epoch: store.epoch, lease: Load.lease, expiry: Load.now + 3_600, now: Load.now)
      switch claim {
      case .spent: break
      case .claimedByOther where !signIn.isSpent: break
      default: return "the code, \(signIn.isSpent ? "spent" : "claimed"): \(claim)"
      }
    }
    if let answered = signIn.answered {
      let earlier = try await claim(signIn.number, answered - 1)
      guard earlier == .reused else { return "generation \(answered), answered: its predecessor is \(earlier)" }
    }
    guard let claimed = signIn.claimed else { return nil }
    if let answered = signIn.answered, answered > claimed {
      // The next claim may have been made without a line.
      let claim = try await claim(signIn.number, answered)
      if case .granted = claim { return nil }
      return try await problem(of: claim, generation: answered, signIn.number)
    }
    // The process of the claim has ended, so the claim is taken over.
    let claim = try await claim(signIn.number, claimed)
    if case .granted(let attempt) = claim, attempt.tookOverClaim { return nil }
    return try await problem(of: claim, generation: claimed, signIn.number)
  }

  /// Returns `nil` if the claim on a token was refused because its successor is recorded, although no line says so.
  private func problem(
    of claim: RefreshLedger.Claim, generation: Int, _ number: Int
  ) async throws(StoreError) -> String? {
    if claim == .reused, case .granted = try await self.claim(number, generation + 1) { return nil }
    return "generation \(generation): \(claim)"
  }

  private func claim(_ number: Int, _ generation: Int) async throws(StoreError) -> RefreshLedger.Claim {
    try await families.claim(
      Load.use(number, generation: generation, epoch: store.epoch), lease: Load.lease, now: Load.now)
  }
}
