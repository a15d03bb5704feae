import OAuth
import Testing
import Time

@testable import Sealing

@Suite("Sealing of registrations")
struct RegistrationSealingTests {
  private static let now = UnixTime(seconds: 1_795_000_000)

  private func registration(_ name: String, quarter: Int = 227) throws -> ClientRegistration {
    ClientRegistration(
      metadata: ClientMetadata(
        name: name, applicationType: .native, redirectURIs: [try RedirectURI(parsing: "com.example.app:/cb")],
        scope: Scope(parsing: "mail")),
      quarter: CalendarQuarter(number: quarter))
  }

  private func payload(_ registration: ClientRegistration) -> [UInt8] {
    var writer = PayloadWriter()
    registration.write(to: &writer)
    return writer.bytes
  }

  @Test("Two registrations never share a salt, and equal ones are equal texts")
  func salts() throws {
    let ring = try #require(KeyRing.ephemeral(now: Self.now).registration)
    let sealer = Sealer(keyRing: ring, issuer: "https://gw.example")
    let other = Sealer(keyRing: ring, issuer: "https://other.example")
    var salts: Set<[UInt8]> = []
    for number in 0..<1_000 {
      let first = try registration("App \(number)")
      salts.insert(sealer.syntheticSalt(of: payload(first)))
      salts.insert(sealer.syntheticSalt(of: payload(try registration("App \(number)", quarter: 228))))
      salts.insert(other.syntheticSalt(of: payload(first)))
      #expect(sealer.seal(idempotently: first) == sealer.seal(idempotently: first))
    }
    #expect(salts.count == 3_000)
    let code = sealer.seal(payload(try registration("App")), for: .code)
    #expect(sealer.seal(payload(try registration("App")), for: .code) != code)
  }

  @Test("The secret of a client depends on its id and on the key that sealed the id, and stays the same in a rotation")
  func secrets() throws {
    var file = KeyFile.generate(now: Self.now, withRegistrationKey: true)
    let metadata = try registration("App").metadata
    let ids = try [1, 2].map { (byte: UInt8) -> String in
      let instance = [UInt8](repeating: byte, count: ClientRegistration.instanceLength)
      let value = ClientRegistration(metadata: metadata, quarter: CalendarQuarter(number: 227), instance: instance)
      let sealer = Sealer(keyRing: try #require(file.ring?.registration), issuer: "i")
      let id = sealer.seal(idempotently: value)
      #expect(try sealer.open(ClientRegistration.self, from: id) == value)
      return id
    }
    let first = Sealer(keyRing: try #require(file.ring?.registration), issuer: "i")
    let secrets = try ids.map { try first.clientSecret(of: $0).reveal() }
    #expect(Set(secrets).count == 2)
    #expect(secrets.allSatisfy { $0.utf8.count == 43 })
    for _ in 0..<2 { _ = file.rotateRegistration(now: Self.now + 100) }
    let rotated = Sealer(keyRing: try #require(file.ring?.registration), issuer: "i")
    #expect(try ids.map { try rotated.clientSecret(of: $0).reveal() } == secrets)
    let key = try #require(file.registrationKeys.first?.id)
    let isRetired = file.retire(key)
    #expect(isRetired)
    let without = Sealer(keyRing: try #require(file.ring?.registration), issuer: "i")
    #expect(throws: OpenError.retiredKey(key)) { try without.clientSecret(of: ids[0]) }
  }

  @Test("A registration key rotates and retires apart from the others, and its retirement counts quarters")
  func keys() throws {
    var file = KeyFile.generate(now: Self.now)
    #expect(file.ring?.registration == nil)
    guard case .promoted(let first) = file.rotateRegistration(now: Self.now) else {
      Issue.record("the first key does not seal")
      return
    }
    let ring = try #require(file.ring?.registration)
    let value = try registration("App")
    let text = Sealer(keyRing: ring, issuer: "i").seal(idempotently: value)
    let later = Self.now + 300 * 86_400
    _ = file.rotateRegistration(now: later)
    _ = file.rotateRegistration(now: later)
    #expect(file.keys.count == 1)
    #expect(file.registrationKeys.count == 2)
    let again = try KeyFile(parsing: file.render())
    #expect(again.render() == file.render())
    let both = Sealer(keyRing: try #require(again.ring?.registration), issuer: "i")
    #expect(try both.open(ClientRegistration.self, from: text) == value)
    #expect(file.registrationRetirement(of: first, now: later)?.quarters == 4)
    #expect(file.quartersOfIDs(of: first, now: later) == 4)
    let isRetired = file.retire(first)
    #expect(isRetired)
    #expect(file.quartersOfIDs(of: first, now: later) == 0)
    let without = Sealer(keyRing: try #require(file.ring?.registration), issuer: "i")
    #expect(throws: OpenError.retiredKey(first)) { try without.open(ClientRegistration.self, from: text) }
  }
}
