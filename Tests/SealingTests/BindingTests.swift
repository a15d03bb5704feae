import OAuth
import Testing
import Time

@testable import Sealing

@Suite("Values that are sealed for one place")
struct BindingTests {
  private let sealer = Samples.sealer()
  private let payload: [UInt8] = [1, 2, 3]

  @Test("A bound value opens only in its own place, and a value without a binding in no place")
  func place() throws {
    let here = SealBinding(data: [1, 2])
    let text = sealer.seal(payload, for: .storedTokens, in: here)
    #expect(try sealer.open(text, as: .storedTokens, in: SealBinding(data: [1, 2])) == payload)
    for other in [SealBinding(data: [1, 3]), SealBinding(data: []), nil] {
      #expect(throws: OpenError.notAuthentic) { try sealer.open(text, as: .storedTokens, in: other) }
    }
    #expect(throws: OpenError.notAuthentic) { try sealer.open(text, as: .state, in: here) }
    let free = sealer.seal(payload, for: .storedTokens)
    #expect(throws: OpenError.notAuthentic) { try sealer.open(free, as: .storedTokens, in: here) }
  }

  @Test("If the binding has a secret, the keys of the ring alone open nothing")
  func secret() throws {
    let text = sealer.seal(payload, for: .storedTokens, in: SealBinding(data: [1], secret: Secret("token")))
    #expect(try sealer.open(text, as: .storedTokens, in: SealBinding(data: [1], secret: Secret("token"))) == payload)
    for other in [SealBinding(data: [1], secret: Secret("other")), SealBinding(data: [1])] {
      #expect(throws: OpenError.notAuthentic) { try sealer.open(text, as: .storedTokens, in: other) }
    }
  }

  @Test("A name in a store depends on a key of the ring, and a name of an old key is found after a rotation")
  func names() throws {
    let old = SealingKey.generate(created: 1, state: .seals)
    let new = SealingKey.generate(created: 2, state: .seals)
    func sealer(_ keys: [SealingKey]) throws -> Sealer {
      let ring = try #require(KeyRing(keys: keys, isEphemeral: false))
      return Sealer(keyRing: ring, issuer: "https://id.example.com")
    }
    let handle = Array("hAAAAAAAAAAAAA".utf8)
    let before = try sealer([old]).storeNames(of: handle)
    let after = try sealer([old, new]).storeNames(of: handle)
    #expect(before.count == 1 && after.count == 2)
    #expect(after[1] == before[0])
    #expect(after[0] != before[0])
    #expect(try sealer([new]).storeNames(of: handle) == [after[0]])
    #expect(try sealer([old]).storeNames(of: handle + [0]) != before)
  }
}
