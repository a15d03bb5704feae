import DiskStore
import OAuth
import Stores
import Synchronization
import Time

/// Sign-ins with refreshes, one after another at a given concurrency, until the process is killed. A line of output is
/// written at each moment from which the store must not lose a record, before the next operation of the same client:
///
///     s NUMBER              the code is claimed, and the gateway would now send the request to the upstream
///     p NUMBER              the code is spent, and the gateway would now answer the client
///     r NUMBER GENERATION   the use of the token of this generation is claimed, and the request would now be sent
///     a NUMBER GENERATION   the token of this generation is the valid one, and would now be sent to the client
final class Sessions: Sendable {
  /// The number of refreshes of a sign-in.
  private static let refreshes = 3

  private let store: FileStore
  private let codes: RedemptionLedger
  private let families: RefreshLedger
  private let next: Atomic<Int>

  init(_ store: FileStore, first: Int) {
    self.store = store
    codes = RedemptionLedger(store: store)
    families = RefreshLedger(store: store)
    next = Atomic(first)
  }

  func run() async {
    do throws(StoreError) {
      while true { try await signIn(next.add(1, ordering: .relaxed).newValue) }
    } catch {
      fail("\(error)")
    }
  }

  private func signIn(_ number: Int) async throws(StoreError) {
    let claim = try await codes.claim(
      Load.id(number), client: Load.client, verifier: Secret("verifier"), holder: Load.holder, epoch: store.epoch,
      lease: Load.lease, expiry: Load.now + 3_600, now: Load.now)
    guard case .granted(let attempt) = claim else { fail("not granted: \(claim)") }
    show("s \(number)")
    guard try await codes.spend(attempt, now: Load.now) else { fail("not spent") }
    show("p \(number)")
    for generation in 0..<Sessions.refreshes { try await refresh(number, generation) }
  }

  private func refresh(_ number: Int, _ generation: Int) async throws(StoreError) {
    let use = Load.use(number, generation: generation, epoch: store.epoch)
    let claim = try await families.claim(use, lease: Load.lease, now: Load.now)
    guard case .granted(let attempt) = claim else { fail("not granted: \(claim)") }
    show("r \(number) \(generation)")
    let successor = Load.token(number, generation: generation + 1)
    guard try await families.settle(attempt, successor: successor, now: Load.now) else { fail("not settled") }
    show("a \(number) \(generation + 1)")
  }
}
