import ByteText
import Cryptography
import DiceTestSupport
import Sealing
import Testing

@Suite("Sealed values")
struct SealerTests {
  private let sealer = Samples.sealer()
  private let payload = Array("a payload".utf8)

  @Test("A sealed value opens again", arguments: Purpose.allCases)
  func roundTrip(purpose: Purpose) throws {
    #expect(try sealer.open(sealer.seal(payload, for: purpose), as: purpose) == payload)
    #expect(try sealer.open(sealer.seal([], for: purpose), as: purpose).isEmpty)
  }

  private static let issuer = "https://id.example.com"

  private static func sealer(_ lines: String...) throws -> Sealer {
    Sealer(keyRing: try #require(KeyFile(parsing: lines.joined(separator: "\n")).ring), issuer: issuer)
  }

  @Test("A value that another implementation of the format sealed opens")
  func known() throws {
    // Made with Python's `cryptography`: the key is 1 to 32, the salt 0 to 15.
    let sealer = try Self.sealer("3f9a01c2 2026-01-01T00:00:00Z AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA seals")
    let text = "AZ1c4z-aAcIAAQIDBAUGBwgJCgsMDQ4P2e9EPxZEC7eXYVDlJjfzsrUPXP8k9zvcgQ"
    #expect(try sealer.open(text, as: .code) == payload)
  }

  @Test("Each value opens with the key of the ring that its id names")
  func severalKeys() throws {
    let first = "3f9a01c2 2026-01-01T00:00:00Z AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA"
    let second = "5b0c7d11 2026-02-01T00:00:00Z AgIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA"
    let old = try Self.sealer(first + " seals", second + " opens")
    let new = try Self.sealer(first + " opens", second + " seals")
    for _ in 0..<3 {
      #expect(try new.open(old.seal(payload, for: .refresh), as: .refresh) == payload)
      #expect(try new.open(new.seal(payload, for: .refresh), as: .refresh) == payload)
      #expect(try old.open(new.seal(payload, for: .refresh), as: .refresh) == payload)
    }
  }

  @Test("A key with the same id and another secret opens nothing")
  func sameName() throws {
    let first = try Self.sealer("3f9a01c2 2026-01-01T00:00:00Z AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA seals")
    let second = try Self.sealer("3f9a01c2 2026-01-01T00:00:00Z AgIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA seals")
    #expect(throws: OpenError.notAuthentic) { try second.open(first.seal(payload, for: .code), as: .code) }
  }

  @Test("I-token: a sealed value with a flipped bit does not open")
  func flippedBits() throws {
    let envelope = try #require(Base64URL.decode(sealer.seal(payload, for: .code)))
    for bit in 0..<envelope.count * 8 {
      var changed = envelope
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      let error = #expect(throws: OpenError.self) { try sealer.open(Base64URL.encode(changed), as: .code) }
      switch bit / 8 {
      case 0...3: #expect(error == .malformed)
      case 4...7: #expect(error == .unknownKey(try #require(KeyID(Hex.encode(Array(changed[4...7]))))))
      default: #expect(error == .notAuthentic)
      }
    }
  }

  @Test("A value that is sealed for one purpose does not open for another, and looks forged")
  func purposes() {
    for purpose in Purpose.allCases {
      let text = sealer.seal(payload, for: purpose)
      for other in Purpose.allCases where other != purpose {
        #expect(throws: OpenError.notAuthentic) { try sealer.open(text, as: other) }
      }
    }
  }

  @Test("A value that is sealed for one issuer does not open for another one with the same keys")
  func issuers() {
    let other = Sealer(keyRing: sealer.keyRing, issuer: "https://id.example.com/tenant")
    #expect(throws: OpenError.notAuthentic) { try other.open(sealer.seal(payload, for: .code), as: .code) }
  }

  @Test("I-token: of the spellings that a lenient decoder accepts, only the canonical one opens")
  func canonical() {
    // Sealed lengths with zero, one and two stray bytes at the end.
    for length in 9...11 {
      let text = sealer.seal(Array(repeating: 7, count: length), for: .code)
      for spelling in ["\(text)=", "\(text)==", " \(text)", "\(text)\n", "\(text).", "\(text)A"] {
        #expect(throws: OpenError.self) { try sealer.open(spelling, as: .code) }
      }
      let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
      let opening = alphabet.filter { (try? sealer.open(text.dropLast() + String($0), as: .code)) != nil }
      #expect(opening == text.suffix(1))
    }
  }

  @Test("A truncated or extended value does not open")
  func truncation() throws {
    let text = sealer.seal(payload, for: .state)
    for length in 0..<text.count {
      #expect(throws: OpenError.self) { try sealer.open(String(text.prefix(length)), as: .state) }
    }
    let envelope = try #require(Base64URL.decode(text))
    #expect(throws: OpenError.notAuthentic) { try sealer.open(Base64URL.encode(envelope + [0]), as: .state) }
    #expect(throws: OpenError.malformed) { try sealer.open("", as: .state) }
    #expect(throws: OpenError.malformed) { try sealer.open(Base64URL.encode(Array(envelope.prefix(39))), as: .state) }
  }

  @Test("Input that is too long is refused before it is decoded")
  func tooLong() {
    let text = String(repeating: "A", count: Sealer.maximumLength + 1)
    #expect(throws: OpenError.malformed) { try sealer.open(text, as: .state) }
  }

  @Test("Two sealings of one value have only version, mark and key id in common")
  func nothingShared() throws {
    let sealed = try (0..<2000).map { _ in try #require(Base64URL.decode(sealer.seal(payload, for: .code))) }
    let first = sealed[0]
    // In 2,000 sealings every byte after the key id has many values, and no window of four bytes repeats.
    for index in 0..<first.count {
      let values = Set(sealed.map { $0[index] })
      #expect(index < 8 ? values.count == 1 : values.count > 200)
    }
    for other in sealed.dropFirst() {
      #expect(!(8...first.count - 8).contains { other[$0..<$0 + 8] == first[$0..<$0 + 8] })
    }
  }

  @Test("6749-10.10-entropy: 10,000 codes of one transaction differ after their common prefix")
  func entropy() throws {
    let code = try Samples.code()
    // The eight bytes of version, mark and key id are ten complete characters.
    #expect(Set((0..<10_000).map { _ in sealer.seal(code).dropFirst(11) }).count == 10_000)
  }

  @Test("Random input is refused without a crash")
  func randomInput() {
    var generator = SeededGenerator(seed: 1)
    let known = Base64URL.decode(sealer.seal(payload, for: .state)) ?? []
    for _ in 0..<20_000 {
      let count = Int.random(in: 0...120, using: &generator)
      var bytes = generator.bytes(count)
      // Half of them get past the check of version, mark and key id.
      if Bool.random(using: &generator) { bytes.replaceSubrange(0..<min(8, bytes.count), with: known.prefix(8)) }
      for text in [Base64URL.encode(bytes), String(decoding: bytes, as: UTF8.self)] {
        #expect(throws: OpenError.self, "\(Hex.encode(bytes))") { try sealer.open(text, as: .state) }
      }
    }
  }

  @Test("Values that were not sealed do not look sealed, whatever they begin with")
  func foreignValues() {
    // One of 2^24 texts with the right version begins like a sealed one: the texts are the same in each run.
    var generator = SeededGenerator(seed: 2)
    for _ in 0..<20_000 {
      let random = generator.bytes(60)
      for bytes in [random, [1] + random, [1, 0x00, 0x00, 0x00] + random] {
        #expect(throws: OpenError.malformed, "\(Hex.encode(bytes))") {
          try sealer.open(Base64URL.encode(bytes), as: .state)
        }
      }
    }
  }

  @Test("The sealed length is the one that the formula gives")
  func length() {
    for count in 0...100 {
      #expect(
        sealer.seal([UInt8](repeating: 0, count: count), for: .state).utf8.count
          == Sealer.sealedLength(ofPayload: count))
    }
  }
}
