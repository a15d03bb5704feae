import OAuth
import RedisTestSupport
import Stores
import Testing
import Time

/// The rules of `EphemeralStore`, for every engine.
@Suite("The rules of a store")
struct StoreConformanceTests {
  /// A kind with values of a fixed length and one with values of any length.
  private static let kinds = [StoreKind.claim, .state]

  @Test("An entry is put once, read several times and taken once", arguments: StoreEngine.allCases, StoreKind.allCases)
  func lifeCycle(engine: StoreEngine, kind: StoreKind) async throws {
    try await engine.run { store async throws in
      let key = StoreKey.sample(kind)
      #expect(try await store.get(key) == nil)
      #expect(try await store.put(key, 1) == nil)
      #expect(try await store.put(key, 2) == kind.sample(1))
      #expect(try await store.get(key) == kind.sample(1))
      #expect(try await store.get(key) == kind.sample(1))
      #expect(try await store.take(key) == kind.sample(1))
      #expect(try await store.take(key) == nil)
      #expect(try await store.put(key, 3) == nil)
      #expect(try await store.get(key) == kind.sample(3))
    }
  }

  @Test(
    "An entry is gone in the second in which it expires, and its key is free again", arguments: StoreEngine.allCases,
    kinds)
  func expiry(engine: StoreEngine, kind: StoreKind) async throws {
    try await engine.run { store async throws in
      let key = StoreKey.sample(kind)
      #expect(try await store.put(key, seconds: 60) == nil)
      #expect(try await store.get(key) != nil)
      try store.pass(seconds: 60)
      #expect(try await store.get(key) == nil)
      #expect(try await store.take(key) == nil)
      #expect(try await !store.replace(key, 1, with: 2))
      #expect(try await !store.remove(key, 1))
      #expect(try await store.put(key, 2) == nil)
      #expect(try await store.get(key) == kind.sample(2))
    }
  }

  @Test("An entry that is put after its expiry leaves nothing behind", arguments: StoreEngine.allCases, kinds)
  func bornExpired(engine: StoreEngine, kind: StoreKind) async throws {
    try await engine.run { store async throws in
      #expect(try await store.put(.sample(kind), seconds: 0) == nil)
      #expect(try await store.get(.sample(kind)) == nil)
      #expect(store.count == 0)
    }
  }

  @Test("The same name in another kind is another entry", arguments: StoreEngine.allCases)
  func otherKinds(engine: StoreEngine) async throws {
    try await engine.run { store async throws in
      for kind in StoreKind.allCases { #expect(try await store.put(.sample(kind)) == nil) }
      for kind in StoreKind.allCases { #expect(try await store.take(.sample(kind)) == kind.sample()) }
    }
  }

  @Test("A value is replaced or removed only if the caller knows it", arguments: StoreEngine.allCases, kinds)
  func compares(engine: StoreEngine, kind: StoreKind) async throws {
    try await engine.run { store async throws in
      let key = StoreKey.sample(kind)
      #expect(try await !store.replace(key, 1, with: 2))
      #expect(try await !store.remove(key, 1))
      _ = try await store.put(key, 1)
      #expect(try await !store.replace(key, 9, with: 2))
      #expect(try await store.get(key) == kind.sample(1))
      #expect(try await store.replace(key, 1, with: 2))
      #expect(try await !store.remove(key, 1))
      #expect(try await store.get(key) == kind.sample(2))
      #expect(try await store.remove(key, 2))
      #expect(try await store.get(key) == nil)
    }
  }

  @Test("A replaced value lives until its new expiry", arguments: StoreEngine.allCases, kinds)
  func replacedExpiry(engine: StoreEngine, kind: StoreKind) async throws {
    try await engine.run { store async throws in
      let (longer, shorter) = (StoreKey.sample(kind, 1), StoreKey.sample(kind, 2))
      _ = try await store.put(longer, 1, seconds: 60)
      _ = try await store.put(shorter, 1, seconds: 1_000)
      #expect(try await store.replace(longer, 1, with: 2, seconds: 1_000))
      #expect(try await store.replace(shorter, 1, with: 2, seconds: 60))
      try store.pass(seconds: 60)
      #expect(try await store.put(.sample(kind, 3)) == nil)
      #expect(try await store.get(longer) == kind.sample(2))
      #expect(try await store.get(shorter) == nil)
    }
  }

  @Test(
    "A key that is put again lives as long as its new entry, not its old one", arguments: StoreEngine.allCases, kinds)
  func comeback(engine: StoreEngine, kind: StoreKind) async throws {
    try await engine.run { store async throws in
      let key = StoreKey.sample(kind)
      _ = try await store.put(key, seconds: 60)
      _ = try await store.take(key)
      _ = try await store.put(key, 2, seconds: 1_000)
      try store.pass(seconds: 61)
      for number in 2..<60 { _ = try await store.put(.sample(kind, number), seconds: 30) }
      #expect(try await store.get(key) == kind.sample(2))
    }
  }

  @Test("Thousands of entries are found after any order of puts and takes", arguments: StoreEngine.allCases, kinds)
  func churn(engine: StoreEngine, kind: StoreKind) async throws {
    try await engine.run { store async throws in
      var live: Set<Int> = []
      for step in 0..<3_000 {
        let number = step * 7_919 % 1_001
        let key = StoreKey.sample(kind, number)
        if live.remove(number) != nil {
          #expect(try await store.take(key) == kind.sample(number))
        } else {
          #expect(try await store.put(key, number, seconds: 1_000_000) == nil)
          live.insert(number)
        }
      }
      for number in 0..<1_001 {
        #expect(try await store.get(.sample(kind, number)) == (live.contains(number) ? kind.sample(number) : nil))
      }
    }
  }

  @Test("Reserved room holds an empty value, which one caller replaces", arguments: StoreEngine.allCases)
  func reservation(engine: StoreEngine) async throws {
    try await engine.run { fixture async throws in
      let (store, now) = (fixture.store, fixture.now)
      let key = StoreKey.sample(.answer)
      let holder = StoreHolder.sample()
      _ = try await fixture.put(key, 1)
      // This replaces the existing entry.
      try await store.reserve(key, bytes: 16_384, holder: holder, expiry: now + 100, now: now)
      #expect(try await store.get(key, now: now) == [])
      let value = (0..<16_384).map { UInt8(truncatingIfNeeded: $0) }
      #expect(try await store.replace(key, [], with: value, expiry: now + 60, now: now))
      #expect(try await !store.replace(key, [], with: [1], expiry: now + 60, now: now))
      #expect(try await store.get(key, now: now) == value)
      try fixture.pass(seconds: 60)
      #expect(try await fixture.get(key) == nil)
    }
  }

  @Test("A value longer than its kind allows is refused", arguments: StoreEngine.allCases)
  func tooLong(engine: StoreEngine) async throws {
    try await engine.run { fixture async throws in
      let (store, now) = (fixture.store, fixture.now)
      for kind in StoreKind.allCases {
        guard case .upTo(let longest) = kind.properties.size else { continue }
        let value = [UInt8](repeating: 1, count: longest + 1)
        #expect(
          await failure {
            _ = try await store.put(.sample(kind), value, holder: .sample(), expiry: now + 10, now: now)
          } == .tooLong)
        #expect(
          await failure {
            try await store.reserve(.sample(kind), bytes: longest + 1, holder: .sample(), expiry: now + 10, now: now)
          } == .tooLong)
        #expect(
          try await store.put(.sample(kind), value.dropLast(), holder: .sample(), expiry: now + 10, now: now) == nil)
        #expect(try await store.get(.sample(kind), now: now) == value.dropLast())
      }
      #expect(
        await failure {
          try await store.reserve(.sample(.claim), bytes: 10, holder: .sample(), expiry: now + 10, now: now)
        } == .tooLong)
    }
  }

  @Test("Of 50 simultaneous callers one puts the entry, and the others get its value", arguments: StoreEngine.allCases)
  func simultaneousPuts(engine: StoreEngine) async throws {
    try await engine.run { fixture async throws in
      let store = fixture.store
      let now = fixture.now
      for round in 0..<20 {
        let key = StoreKey.sample(.claim, round)
        let results = try await fixture.simultaneously(50) { number in
          try await store.put(
            key, StoreKind.claim.sample(number), holder: .sample(number), expiry: now + 100, now: now)
        }
        let winner = try #require(try await store.get(key, now: now))
        #expect(results.filter { $0 == nil }.count == 1)
        #expect(results.allSatisfy { $0 == nil || $0 == winner })
        #expect(results[Int(winner[0])] == nil)
      }
    }
  }

  @Test("Of 50 simultaneous callers one takes the entry", arguments: StoreEngine.allCases, kinds)
  func simultaneousTakes(engine: StoreEngine, kind: StoreKind) async throws {
    try await engine.run { fixture async throws in
      let store = fixture.store
      let now = fixture.now
      for round in 0..<20 {
        let key = StoreKey.sample(kind, round)
        #expect(try await fixture.put(key) == nil)
        let results = try await fixture.simultaneously(50) { _ in try await store.take(key, now: now) }
        #expect(results.compactMap { $0 } == [kind.sample()])
      }
    }
  }

  @Test("Of 50 simultaneous redemptions of one code one is granted", arguments: StoreEngine.allCases)
  func simultaneousClaims(engine: StoreEngine) async throws {
    try await engine.run { fixture async throws in
      let ledger = RedemptionLedger(store: fixture.store)
      let (epoch, now) = (fixture.store.epoch, fixture.now)
      for round in 0..<20 {
        let transaction = try #require(TransactionID(bytes: [UInt8](repeating: UInt8(round), count: 16)))
        let claims = try await fixture.simultaneously(50) { number in
          try await ledger.claim(
            transaction, client: ClientID("mail"), verifier: Secret("the same for all"), holder: .sample(number),
            epoch: epoch, lease: 20, expiry: now + 60, now: now)
        }
        let granted = claims.compactMap { claim -> RedemptionLedger.Attempt? in
          if case .granted(let attempt) = claim { return attempt } else { return nil }
        }
        try #require(granted.count == 1)
        #expect(claims.filter { $0 == .busy }.count == 49)
        try await ledger.spend(granted[0], now: now)
        let late = try await ledger.claim(
          transaction, client: ClientID("mail"), verifier: Secret("the same for all"), holder: .sample(),
          epoch: epoch, lease: 20, expiry: now + 60, now: now)
        #expect(late == .spent)
      }
    }
  }

  /// A thief who could make the store lose the end of a family would have a valid token again.
  @Test(
    "A family that ended stays ended when the same client and address fill the share", arguments: StoreEngine.allCases)
  func endedFamilyStays(engine: StoreEngine) async throws {
    try await engine.run(size: MemoryStore.minimumSize, entries: [.family: 64]) { fixture async throws in
      let store = fixture.store
      let now = fixture.now
      let client = ClientID("mail")
      let family = try #require(TransactionID(bytes: Array(1...16)))
      let ledger = RefreshLedger(store: store)
      let grant = RefreshGrant(
        family: family, generation: 0, epoch: store.epoch,
        binding: ClientBinding(clientID: client, scope: nil, upstreamClientID: ClientID("mail")),
        upstreamRefreshToken: Secret("upstream"), issuedAt: 0)
      var use = RefreshUse(grant, token: Secret("r0"), address: "192.0.2.1", isLoopback: false, isAdopted: false)
      use.idleLifetime = 1_000
      guard case .granted(let attempt) = try await ledger.claim(use, lease: 10, now: now) else {
        Issue.record("the first refresh is no grant")
        return
      }
      #expect(try await ledger.settle(attempt, successor: Secret("r1"), now: now))
      let holder = StoreHolder(client: client, address: "192.0.2.1")
      #expect(
        try await ledger.end(
          family, revokingGenerations: 1, holder: holder, expiry: now + 1_000, adoptedUntil: 0, now: now))
      var refusals = 0
      for number in 0..<200 {
        do throws(StoreError) {
          _ = try await store.put(
            .sample(.family, number), StoreKind.family.sample(), holder: holder, expiry: now + 1_000, now: now)
        } catch {
          #expect(error == .full)
          refusals += 1
        }
      }
      if StoreEngine.withShares.contains(engine) { #expect(refusals > 0) }
      for token in ["r0", "r1"] {
        let generation = token == "r0" ? 0 : 1
        let grant = RefreshGrant(
          family: family, generation: generation, epoch: store.epoch,
          binding: ClientBinding(clientID: client, scope: nil, upstreamClientID: ClientID("mail")),
          upstreamRefreshToken: Secret("upstream"), issuedAt: 0)
        let use = RefreshUse(grant, token: Secret(token), address: "192.0.2.1", isLoopback: false, isAdopted: false)
        guard case .ended = try await ledger.claim(use, lease: 10, now: now) else {
          Issue.record("\(token) is good again")
          continue
        }
      }
    }
  }
}
