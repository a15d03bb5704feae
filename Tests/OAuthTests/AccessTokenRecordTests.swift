import OAuth
import Testing
import Time

@Suite("The record of an access token that is issued again")
struct AccessTokenRecordTests {
  private static func record(
    _ client: String, _ resource: String? = "urn:a", scope: String? = nil, family: TransactionID? = nil,
    at time: UnixTime = 1_000, end: UnixTime? = nil, document: ClientMetadata? = nil
  ) -> AccessTokenRecord {
    AccessTokenRecord(
      AccessTokenHolder(clientID: ClientID(client), family: family, document: document), resource: resource,
      scope: scope.flatMap { Scope(parsing: $0) }, issuedAt: time, expiry: time + 600, end: end)
  }

  private static func family(_ number: UInt8) throws -> TransactionID {
    try #require(TransactionID(bytes: Array(repeating: number, count: TransactionID.byteCount)))
  }

  @Test("A token belongs to one resource or to none, also while it is inactive")
  func resource() {
    let first = Self.record("n1", end: 90_000)
    for time in [1_100, 1_600, 89_999] as [UnixTime] {
      #expect(first.merged(with: Self.record("n1", "urn:b", at: time), now: time) == nil)
      #expect(first.merged(with: Self.record("n1", nil, at: time), now: time) == nil)
    }
    #expect(Self.record("n1", nil).merged(with: Self.record("n1"), now: 1_100) == nil)
  }

  @Test("The record names each client once, and a client with another version of its document once more")
  func holders() throws {
    let uri = try RedirectURI(parsing: "https://app.example/cb")
    let document = ClientMetadata(name: "A", applicationType: .web, redirectURIs: [uri])
    var changed = document
    changed.name = "B"
    var record = Self.record("n1")
    for (client, document) in [
      ("n1", nil), ("n2", nil), ("c", document), ("n1", nil), ("c", changed), ("n2", nil), ("c", document),
    ] {
      record = try #require(record.merged(with: Self.record(client, document: document), now: 1_100))
    }
    #expect(record.holders.map(\.clientID.rawValue) == ["n1", "n2", "c", "c"])
    #expect(record.isShared)
    let alone = Self.record("c", document: document).merged(with: Self.record("c", document: changed), now: 1_100)
    #expect(alone?.holders.count == 2 && alone?.isShared == false)
  }

  @Test("A token has at most 16 clients; a client that has it gets it again, and a seventeenth one does not")
  func limit() throws {
    var record = Self.record("n0")
    for number in 1..<16 { record = try #require(record.merged(with: Self.record("n\(number)"), now: 1_100)) }
    #expect(record.holders.count == AccessTokenRecord.maximumClients)
    #expect(record.merged(with: Self.record("n16"), now: 1_100) == nil)
    #expect(record.merged(with: Self.record("n16", at: 1_700), now: 1_700) == nil)
    #expect(record.merged(with: Self.record("n7"), now: 1_100) == record)
  }

  @Test("The record names each login of each client, those of one client in a row")
  func families() throws {
    let (first, second, third) = (try Self.family(1), try Self.family(2), try Self.family(3))
    var record = Self.record("n1", family: first)
    for (client, family) in [("n2", second), ("n1", third), ("n1", first), ("n2", second), ("n1", nil)] {
      record = try #require(record.merged(with: Self.record(client, family: family), now: 1_100))
    }
    #expect(record.holders.map(\.clientID.rawValue) == ["n1", "n1", "n2"])
    #expect(record.holders.map(\.family) == [first, third, second])
  }

  @Test("Of each client, the record names the last 8 logins, and fewer of some clients if there are many clients")
  func logins() throws {
    var record = Self.record("n0", family: try Self.family(1))
    for number in 2...12 {
      record = try #require(record.merged(with: Self.record("n0", family: try Self.family(UInt8(number))), now: 1_100))
    }
    #expect(record.holders.map(\.family) == (try (5...12).map { try Self.family($0) }))
    #expect(!record.isShared)
    for client in 1..<16 {
      for login in 1...4 {
        let family = try Self.family(UInt8(16 * client + login))
        record = try #require(record.merged(with: Self.record("n\(client)", family: family), now: 1_100))
      }
    }
    #expect(record.holders.count == AccessTokenRecord.maximumHolders)
    #expect(Set(record.holders.map(\.clientID)).count == 16)
    #expect(record.holders.last?.family == (try Self.family(16 * 15 + 4)))
    #expect(record.merged(with: Self.record("n16"), now: 1_100) == nil)
  }

  @Test("A token that had expired is active again with the new scope, and keeps its clients and logins")
  func issuedAgain() throws {
    let (first, second, third) = (try Self.family(1), try Self.family(2), try Self.family(3))
    var record = Self.record("n1", scope: "read", family: first, end: 90_000)
    record = try #require(record.merged(with: Self.record("n2", scope: "read write", family: second), now: 1_100))
    let again = Self.record("n2", scope: "write", family: third, at: 2_000)
    record = try #require(record.merged(with: again, now: 2_000))
    #expect(record.holders.map(\.clientID.rawValue) == ["n1", "n2", "n2"])
    #expect(record.holders.map(\.family) == [first, second, third])
    #expect(record.isShared && record.scope == nil)
    #expect(record.issuedAt == 2_000 && record.expiry == 2_600 && record.end == 90_000)
    let alone = Self.record("n1", scope: "read").merged(with: Self.record("n1", scope: "write", at: 1_600), now: 1_600)
    #expect(alone?.scope?.text == "write")
  }

  @Test("A revoked token stays revoked, and issues that follow do not move the end of its record")
  func revoked() throws {
    var record = Self.record("n1", end: 9_000)
    record.isRevoked = true
    for time in [1_100, 2_000, 8_000] as [UnixTime] {
      record = try #require(record.merged(with: Self.record("n2", at: time, end: 90_000), now: time))
      #expect(record.isRevoked && record.expiry == 1_600 && record.end == 9_000)
    }
  }

  @Test("A record never ends before its token expires")
  func end() {
    #expect(Self.record("n1", end: 1_001).end == 1_600)
    #expect(Self.record("n1").merged(with: Self.record("n1", end: 9_000), now: 1_100)?.end == 9_000)
  }
}
