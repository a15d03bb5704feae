import OAuth
import RedisTestSupport
import Stores
import Testing
import Time

extension RefreshLedger.Repeat {
  /// The first use if the repeat is permitted.
  var first: RefreshLedger.FirstUse? {
    if case .permitted(let first) = self { first } else { nil }
  }
}

/// A family for tests: tokens by name, with the generation that the gateway sealed into them.
struct FamilyFixture {
  let store: MemoryStore
  let ledger: RefreshLedger
  let family: TransactionID
  let epoch: EpochID
  var address = "192.0.2.1"
  var window: Seconds = 0
  var adoptedUntil: UnixTime = 0
  var isAdopted = false
  var acceptsAnyNetwork = false

  init(
    _ store: MemoryStore = MemoryStore(size: MemoryStore.minimumSize), epoch: EpochID? = nil, isStrict: Bool = false
  ) throws {
    self.store = store
    ledger = RefreshLedger(store: store, isStrict: isStrict)
    family = try #require(TransactionID(bytes: Array(1...16)))
    self.epoch = epoch ?? store.epoch
  }

  func use(_ token: String, _ generation: Int) -> RefreshUse {
    let grant = RefreshGrant(
      family: family, generation: generation, epoch: epoch,
      binding: ClientBinding(clientID: ClientID("mail"), scope: nil, upstreamClientID: ClientID("mail")),
      upstreamRefreshToken: Secret("upstream"), issuedAt: 0)
    var use = RefreshUse(grant, token: Secret(token), address: address, isLoopback: false, isAdopted: isAdopted)
    use.idleLifetime = 1_000
    use.reuseWindow = window
    use.adoptedUntil = adoptedUntil
    use.acceptsAnyNetwork = acceptsAnyNetwork
    return use
  }

  /// Claims the token of a generation; the tokens of a family are r0, r1 and so on.
  func claim(_ generation: Int, now: UnixTime = 0) async throws -> RefreshLedger.Claim {
    try await ledger.claim(use("r\(generation)", generation), lease: 10, now: now)
  }

  func counted(
    _ generation: Int, isAnswered: Bool = true, now: UnixTime = 0
  ) async throws(StoreError) -> RefreshLedger.Repeat {
    try await ledger.countRepeat(use("r\(generation)", generation), isAnswered: isAnswered, now: now)
  }

  func granted(_ generation: Int, now: UnixTime = 0) async throws -> RefreshLedger.Attempt {
    let claim = try await claim(generation, now: now)
    guard case .granted(let attempt) = claim else {
      Issue.record("\(claim) is no grant")
      throw StoreError.full
    }
    return attempt
  }

  func rotate(_ generation: Int, now: UnixTime = 0) async throws {
    let attempt = try await granted(generation, now: now)
    #expect(try await ledger.settle(attempt, successor: Secret("r\(generation + 1)"), now: now))
  }

  func end(revoking generations: Int = 0) async throws -> Bool {
    try await ledger.end(
      family, revokingGenerations: generations, holder: .sample(), expiry: 1_000, adoptedUntil: adoptedUntil, now: 0)
  }
}

@Suite("9700-2.2.2-refresh-rotation: families of refresh tokens")
struct RefreshLedgerTests {
  private let family: FamilyFixture

  init() throws {
    family = try FamilyFixture()
  }

  @Test("Each token works once and gives the next, and a family has one record")
  func chain() async throws {
    for generation in 0..<5 { try await family.rotate(generation) }
    #expect(family.store.count == 1)
  }

  @Test("Any token other than the current one is a reuse")
  func reuse() async throws {
    try await family.rotate(0)
    #expect(try await family.claim(0) == .reused)
    try await family.rotate(1)
    #expect(try await family.claim(0) == .reused)
    #expect(try await family.ledger.claim(family.use("forged", 1), lease: 10, now: 0) == .reused)
  }

  @Test("Of 20 concurrent uses of one token one is granted")
  func concurrent() async throws {
    let family = family
    let winners = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<20 {
        group.addTask {
          guard case .granted = try? await family.claim(0) else { return 0 }
          return 1
        }
      }
      return await group.reduce(0, +)
    }
    #expect(winners == 1)
    #expect(try await family.claim(0) == .busy)
  }

  @Test("A use without a result leaves the token valid")
  func release() async throws {
    try await family.ledger.release(family.granted(0), now: 0)
    #expect(family.store.count == 0)
    try await family.rotate(0)
    try await family.ledger.release(family.granted(1), now: 0)
    #expect(try await family.claim(0) == .reused)
    try await family.rotate(1)
  }

  @Test("The use of a process that died ends by itself, and its late response does not count")
  func lease() async throws {
    let first = try await family.granted(0)
    let end = UnixTime(seconds: 10) + family.store.clockTolerance
    #expect(try await family.claim(0, now: UnixTime(seconds: 9) + family.store.clockTolerance) == .busy)
    let second = try await family.granted(0, now: end)
    #expect(try await family.ledger.settle(first, successor: Secret("other"), now: end + 1) == false)
    try await family.ledger.release(first, now: end + 1)
    #expect(try await family.claim(0, now: end + 1) == .busy)
    #expect(try await family.ledger.settle(second, successor: Secret("r1"), now: end + 1))
  }

  @Test("A successor that could not be recorded is valid, and then the only valid one")
  func unrecorded() async throws {
    _ = try await family.granted(0)
    try await family.rotate(1)
    #expect(try await family.claim(0) == .reused)
    try await family.rotate(2)
  }

  @Test("An ended family stays ended, and none of its tokens is accepted")
  func end() async throws {
    try await family.rotate(0)
    let attempt = try await family.granted(1)
    #expect(try await family.end())
    #expect(try await !family.end())
    #expect(try await family.ledger.settle(attempt, successor: Secret("r2"), now: 0) == false)
    try await family.ledger.release(attempt, now: 0)
    for generation in 0..<4 {
      guard case .ended = try await family.claim(generation) else {
        Issue.record("generation \(generation) is good")
        return
      }
    }
  }

  @Test("A family can end before its first use, and then none of its tokens is accepted")
  func endUnused() async throws {
    #expect(try await family.end())
    #expect(try await family.claim(0) == .ended(.revokeToken))
  }

  @Test("The first use of each newer generation of an ended family is reported, once")
  func newest() async throws {
    try await family.rotate(0)
    try await family.rotate(1)
    #expect(try await family.end(revoking: 1))
    #expect(try await family.claim(0) == .ended(.nothingToRevoke))
    #expect(try await family.claim(2) == .ended(.revokeToken))
    #expect(try await family.claim(2) == .ended(.nothingToRevoke))
    #expect(try await family.claim(1) == .ended(.nothingToRevoke))
  }

  @Test("A reusable token is refused after the end of its family, and is reported once too")
  func endOfReusable() async throws {
    #expect(try await family.ledger.dutyIfEnded(family.use("r0", 0), now: 0) == nil)
    #expect(try await family.end())
    #expect(try await family.ledger.dutyIfEnded(family.use("r0", 0), now: 0) == .revokeToken)
    #expect(try await family.ledger.dutyIfEnded(family.use("r0", 0), now: 0) == .nothingToRevoke)
  }

  @Test("I-token: room is taken before the upstream is asked, and a full store grants nothing")
  func full() async throws {
    let store = MemoryStore(size: MemoryStore.minimumSize, entries: [.family: 1])
    let family = try FamilyFixture(store)
    let attempt = try await family.granted(0)
    await #expect(throws: StoreError.full) {
      try await store.put(.sample(.family), StoreKind.family.sample(), holder: .sample(1), expiry: 9, now: 0)
    }
    // The response needs no more room than the claim.
    #expect(try await family.ledger.settle(attempt, successor: Secret("r1"), now: 0))
    let other = try FamilyFixture(MemoryStore(size: MemoryStore.minimumSize, entries: [.family: 1]))
    _ = try await other.store.put(
      .sample(.family), StoreKind.family.sample(), holder: .sample(1), expiry: 9, now: 0)
    await #expect(throws: StoreError.full) { try await other.claim(0) }
  }
}

@Suite("Families without a record")
struct FamilyEpochTests {
  @Test("family-missing: a token of generation 1 or above of the current epoch is refused without a record")
  func missing() async throws {
    let family = try FamilyFixture()
    #expect(try await family.claim(1) == .missing)
    #expect(family.store.count == 0)
    _ = try await family.granted(0)
  }

  @Test("An ended family does not return when the store is full of its client's families")
  func endedStays() async throws {
    let store = MemoryStore(size: MemoryStore.minimumSize, entries: [.family: 64])
    let family = try FamilyFixture(store)
    try await family.rotate(0)
    #expect(try await family.end())
    let holder = StoreHolder(client: ClientID("mail"), address: "192.0.2.1")
    var refused = 0
    for number in 0..<200 {
      do throws(StoreError) {
        _ = try await store.put(
          .sample(.family, number), StoreKind.family.sample(), holder: holder, expiry: 9_000, now: 0)
      } catch {
        refused += 1
      }
    }
    #expect(refused > 0)
    for generation in 0...1 {
      guard case .ended = try await family.claim(generation) else {
        Issue.record("generation \(generation) is good")
        return
      }
    }
  }

  @Test("A token of an earlier epoch works once more, and its family gets a record again", arguments: [0, 3])
  func earlierEpoch(generation: Int) async throws {
    let family = try FamilyFixture(epoch: EpochID(rawValue: 7))
    let attempt = try await family.granted(generation)
    #expect(attempt.isFromEarlierEpoch)
    #expect(try await family.ledger.settle(attempt, successor: Secret("r\(generation + 1)"), now: 0))
    #expect(try await family.claim(generation) == .reused)
    try await family.rotate(generation + 1)
  }

  @Test("store_epoch: a strict ledger accepts no token of an earlier epoch", arguments: [0, 3])
  func strict(generation: Int) async throws {
    let earlier = try FamilyFixture(epoch: EpochID(rawValue: 7), isStrict: true)
    #expect(try await earlier.claim(generation) == .missing)
    #expect(earlier.store.count == 0)
    #expect(earlier.ledger.refuses(earlier.use("r\(generation)", generation)))
    let present = try FamilyFixture(isStrict: true)
    try await present.rotate(0)
    try await present.rotate(1)
  }

  @Test("A token of an earlier epoch whose family has a record cannot be used a second time")
  func recordStays() async throws {
    let family = try FamilyFixture(epoch: EpochID(rawValue: 7))
    try await family.rotate(0)
    try await family.rotate(1)
    #expect(try await family.claim(0) == .reused)
    #expect(try await family.end())
    #expect(try await family.claim(2) == .ended(.revokeToken))
  }

  @Test("A failed use of an earlier epoch's token leaves no record, and the token stays valid")
  func releasedEarlierEpoch() async throws {
    let family = try FamilyFixture(epoch: EpochID(rawValue: 7))
    try await family.ledger.release(family.granted(3), now: 0)
    #expect(family.store.count == 0)
    #expect(try await family.granted(3).isFromEarlierEpoch)
  }

  @Test("One token from before the gateway starts one family, whose record stays until the date")
  func adopted() async throws {
    var family = try FamilyFixture()
    family.adoptedUntil = 50_000
    family.isAdopted = true
    try await family.rotate(0)
    family.isAdopted = false
    try await family.rotate(1, now: 900)
    // Long after the family's own tokens have expired.
    family.isAdopted = true
    #expect(try await family.claim(0, now: 49_000) == .reused)
    #expect(try await family.end())
    #expect(try await family.claim(0, now: 50_000) == .ended(.revokeToken))
  }

  @Test("The family of a token from before the gateway is derived from the token and its client")
  func adoptedName() {
    let name = RefreshUse.adoptedFamily(of: Secret("raw"), client: ClientID("mail"))
    #expect(name == RefreshUse.adoptedFamily(of: Secret("raw"), client: ClientID("mail")))
    #expect(name != RefreshUse.adoptedFamily(of: Secret("raw"), client: ClientID("other")))
    #expect(name != RefreshUse.adoptedFamily(of: Secret("other"), client: ClientID("mail")))
  }
}

@Suite("I-renewal: repeats of a refresh")
struct RefreshRepeatTests {
  private var family: FamilyFixture

  init() throws {
    family = try FamilyFixture()
    family.window = 120
  }

  @Test("I-renewal: the last used token is a repeat while the window is open, counted from its first use")
  func window() async throws {
    try await family.rotate(0, now: 100)
    #expect(try await family.claim(0, now: 150) == .repeated)
    #expect(try await family.claim(0, now: 219) == .repeated)
    #expect(try await family.claim(0, now: 220) == .reused)
  }

  @Test("I-renewal: a repeat is a reuse after the successor was used")
  func successorUsed() async throws {
    try await family.rotate(0)
    let attempt = try await family.granted(1)
    #expect(try await family.claim(0) == .reused)
    try await family.ledger.release(attempt, now: 0)
    try await family.rotate(1)
    #expect(try await family.claim(0) == .reused)
  }

  @Test("I-renewal: from another network a repeat is accepted for 10 seconds", arguments: [10, 11] as [UnixTime])
  func network(now: UnixTime) async throws {
    var elsewhere = family
    elsewhere.address = "198.51.100.1"
    var neighbour = family
    neighbour.address = "192.0.2.200"
    try await family.rotate(0)
    #expect(try await neighbour.claim(0, now: now) == .repeated)
    #expect(try await elsewhere.claim(0, now: now) == (now <= 10 ? .repeated : .reused))
  }

  @Test("I-renewal: 64 repeats are answered, and no further one within the window ends the family")
  func most() async throws {
    try await family.rotate(0)
    for _ in 0..<64 {
      #expect(try await family.claim(0) == .repeated)
      #expect(try await family.counted(0).first != nil)
    }
    for _ in 0..<200 {
      #expect(try await family.claim(0, now: 119) == .repeated)
      #expect(try await family.counted(0, now: 119) == .tooMany)
    }
    let attempt = try await family.granted(1)
    try await family.ledger.release(attempt, now: 119)
    #expect(try await family.claim(0, now: 120) == .reused)
  }

  @Test("I-renewal: of many concurrent repeats, 64 are answered and none is a reuse")
  func concurrent() async throws {
    try await family.rotate(0)
    let family = family
    let results = try await withThrowingTaskGroup(of: RefreshLedger.Repeat?.self) { group in
      for _ in 0..<100 {
        group.addTask {
          // A repeat whose change of the record loses against others too often gets 503.
          do throws(StoreError) { return try await family.counted(0) } catch { return nil }
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(results.count { $0?.first != nil } <= 64)
    #expect(!results.contains(.reused))
  }

  @Test("I-renewal: a repeat without a held response does not count, however often it comes")
  func unanswered() async throws {
    try await family.rotate(0)
    for _ in 0..<20 {
      #expect(try await family.claim(0) == .repeated)
      #expect(try await family.counted(0, isAnswered: false).first != nil)
    }
    #expect(try await family.counted(0).first != nil)
  }

  @Test("I-renewal: with any network allowed, a repeat from another network is accepted until the window closes")
  func anyNetwork() async throws {
    var elsewhere = family
    elsewhere.address = "198.51.100.1"
    elsewhere.acceptsAnyNetwork = true
    try await family.rotate(0)
    #expect(try await elsewhere.claim(0, now: 119) == .repeated)
    #expect(try await elsewhere.claim(0, now: 120) == .reused)
  }

  @Test(
    "The log has the network of the first use",
    arguments: [
      ("192.0.2.1", "192.0.2.0/24"), ("10.1.2.3", "10.1.2.0/24"), ("2001:db8:12:3456::1", "2001:db8:12::/48"),
      ("::1", "0:0:0::/48"), ("::ffff:192.0.2.9", "192.0.2.0/24"), ("gateway", "other"),
    ])
  func firstNetwork(address: String, network: String) async throws {
    var first = family
    first.address = address
    try await first.rotate(0)
    #expect(try await first.counted(0).first?.network == network)
    #expect(first.use("r0", 0).networkText == network)
  }
}
