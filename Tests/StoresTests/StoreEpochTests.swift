import OAuth
import RedisTestSupport
import Stores
import Synchronization
import Testing
import Time

@Suite("The epochs of a store")
struct StoreEpochTests {
  @Test("Each store has its own epoch", arguments: StoreEngine.allCases)
  func epochs(engine: StoreEngine) async throws {
    let seen = Epochs()
    for _ in 0..<2 { try await engine.run { seen.add($0.store.epoch) } }
    #expect(seen.all.count == 2)
    #expect(!seen.all.contains(.none))
  }

  @Test(
    "An entry for another epoch is refused, except in memory, where each start is an epoch",
    arguments: StoreEngine.allCases)
  func otherEpoch(engine: StoreEngine) async throws {
    try await engine.run { fixture async throws in
      let (store, now) = (fixture.store, fixture.now)
      let value = StoreKind.claim.sample()
      for (number, epoch) in [store.epoch, EpochID(rawValue: 7), EpochID.none].enumerated() {
        let refusal = await failure {
          let existing = try await store.put(
            .sample(.claim, number), value, in: epoch, holder: .sample(), expiry: now + 10, now: now)
          #expect(existing == nil)
        }
        let isStored = engine == .memory || epoch == store.epoch
        if case .unavailable? = refusal { #expect(!isStored) } else { #expect(isStored) }
        #expect(try await fixture.get(.sample(.claim, number)) == (isStored ? value : nil))
      }
    }
  }
}

/// The epochs of stores that a test has seen.
private final class Epochs: Sendable {
  private let seen = Mutex<Set<EpochID>>([])

  func add(_ epoch: EpochID) { seen.withLock { _ = $0.insert(epoch) } }

  var all: Set<EpochID> { seen.withLock { $0 } }
}
