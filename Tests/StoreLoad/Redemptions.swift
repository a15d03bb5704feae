import DiskStore
import OAuth
import Reactor
import Stores
import Synchronization
import Time

/// Redemptions at a given concurrency, for a given time.
final class Redemptions: Sendable {
  private let store: FileStore
  private let ledger: RedemptionLedger
  private let next = Atomic<Int>(Int(Load.now.seconds) << 20)
  private let done = Atomic<Int>(0)
  private let failed = Atomic<Int>(0)

  init(_ store: FileStore) {
    self.store = store
    ledger = RedemptionLedger(store: store)
  }

  /// Redeems codes one after another.
  func redeem(until end: MonotonicTime) async {
    while SystemClock.monotonicTime() < end {
      let number = next.add(1, ordering: .relaxed).newValue
      do {
        let claim = try await ledger.claim(
          Load.id(number), client: Load.client, verifier: Secret("verifier"), holder: Load.holder, epoch: store.epoch,
          lease: Load.lease, expiry: Load.now + 60, now: Load.now)
        guard case .granted(let attempt) = claim else { fail("not granted: \(claim)") }
        guard try await ledger.spend(attempt, now: Load.now) else { fail("not spent") }
        done.add(1, ordering: .relaxed)
      } catch {
        failed.add(1, ordering: .relaxed)
      }
    }
  }

  /// Shows the figures as one JSON object; times are in microseconds.
  func report(seconds: Int) {
    let copies = store.checkpoints
    show(
      """
      {"rate": \(done.load(ordering: .relaxed) / seconds), "failed": \(failed.load(ordering: .relaxed)), \
      "copies": \(copies.count), "longest_copy": \(copies.longest / 1_000), \
      "longest_wait": \(copies.longestWait / 1_000)}
      """)
  }
}
