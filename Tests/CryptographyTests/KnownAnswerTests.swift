import ByteText
import Cryptography
import Testing

@Suite("Known answers")
struct KnownAnswerTests {
  private let cipher = AES256GCM()

  @Test("HMAC-SHA256 gives the results of RFC 4231")
  func hmac() throws {
    #expect(
      Hex.encode(hmacSHA256(key: [UInt8](repeating: 0x0b, count: 20), message: Array("Hi There".utf8)))
        == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
    #expect(
      Hex.encode(hmacSHA256(key: Array("Jefe".utf8), message: Array("what do ya want for nothing?".utf8)))
        == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    #expect(
      Hex.encode(
        hmacSHA256(
          key: [UInt8](repeating: 0xaa, count: 131),
          message: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8)))
        == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
  }

  @Test("A reused context keeps its key and does not remember the last message")
  func reuse() {
    let hmac = HMACSHA256(key: [1])
    let first = hmac.authenticate([1, 2], followedBy: [3])
    #expect(hmac.authenticate([4]) == hmacSHA256(key: [1], message: [4]))
    #expect(HMACSHA256(key: [2]).authenticate([1, 2, 3]) != first)
    #expect(hmac.authenticate([1, 2, 3]) == first)
    #expect(first == hmacSHA256(key: [1], message: [1, 2, 3]))
  }

  @Test("HKDF gives the results of RFC 5869 for SHA-256 (appendices A.1 to A.3)")
  func hkdf() {
    let first = HKDFSHA256(key: [UInt8](repeating: 0x0b, count: 22), salt: Array(0x00...0x0c))
    #expect(
      Hex.encode(first.expand(info: Array(0xf0...0xf9), length: 42))
        == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865")
    #expect(
      Hex.encode(
        HKDFSHA256(key: Array(0x00...0x4f), salt: Array(0x60...0xaf)).expand(info: Array(0xb0...0xff), length: 82))
        == "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c"
        + "59045a99cac7827271cb41c65e590e09da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87")
    #expect(
      Hex.encode(HKDFSHA256(key: [UInt8](repeating: 0x0b, count: 22)).expand(info: [], length: 42))
        == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8")
    // The extracted key is unchanged.
    #expect(first.expand(info: [1], length: 32) != first.expand(info: [2], length: 32))
    #expect(Hex.encode(first.expand(info: Array(0xf0...0xf9), length: 32)).hasPrefix("3cb25f25faacd57a"))
  }

  @Test(
    "AES-256-GCM gives the results of the GCM specification (test cases 13 to 16)",
    arguments: [
      GCMVector(key: zeros(32), nonce: zeros(12), sealed: "530f8afbc74536b9a963b4f1c4cb738b"),
      GCMVector(
        key: zeros(32), nonce: zeros(12), plaintext: zeros(16),
        sealed: "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"),
      GCMVector(
        key: GCMVector.key, nonce: GCMVector.nonce, plaintext: GCMVector.plaintext + "1aafd255",
        sealed: GCMVector.ciphertext + "898015ad" + "b094dac5d93471bdec1a502270e3cc6c"),
      GCMVector(
        key: GCMVector.key, nonce: GCMVector.nonce, plaintext: GCMVector.plaintext,
        data: "feedfacedeadbeeffeedfacedeadbeefabaddad2",
        sealed: GCMVector.ciphertext + "76fc6ece0f4e1768cddf8853bb2d551b"),
    ])
  func gcm(vector: GCMVector) throws {
    let key = try #require(Hex.decode(vector.key))
    let nonce = try #require(Hex.decode(vector.nonce))
    let data = try #require(Hex.decode(vector.data))
    var sealed: [UInt8] = []
    cipher.seal(
      try #require(Hex.decode(vector.plaintext)), key: key, nonce: nonce.span, authenticating: data, onto: &sealed)
    #expect(Hex.encode(sealed) == vector.sealed)
    let opened = try #require(open(sealed, key, nonce, data))
    #expect(Hex.encode(opened) == vector.plaintext)
  }

  @Test("A changed bit in ciphertext, tag, data, nonce or key is refused, and the context stays usable")
  func forgeries() throws {
    let key = randomBytes(32)
    let nonce = randomBytes(12)
    let data: [UInt8] = [1, 2, 3]
    let front: [UInt8] = [0, 0]
    var envelope = front
    cipher.seal(Array("plaintext".utf8), key: key, nonce: nonce.span, authenticating: data, onto: &envelope)
    #expect(envelope.starts(with: front))
    let sealed = Array(envelope.dropFirst(2))
    for bit in 0..<sealed.count * 8 {
      #expect(open(flip(sealed, bit), key, nonce, data) == nil)
    }
    #expect(open(sealed, flip(key, 9), nonce, data) == nil)
    #expect(open(sealed, key, flip(nonce, 9), data) == nil)
    #expect(open(sealed, key, nonce, flip(data, 9)) == nil)
    #expect(open(sealed.dropLast(), key, nonce, data) == nil)
    #expect(open(sealed.prefix(15), key, nonce, data) == nil)
    #expect(open([UInt8](), key, nonce, data) == nil)
    #expect(
      open(envelope.dropFirst(2), key, nonce, data)
        == Array("plaintext".utf8))
  }

  @Test("A pool gives bytes that do not repeat")
  func pool() {
    let pool = RandomPool()
    #expect(Set((0..<1000).map { _ in Array(pool.take(16)) }).count == 1000)
    #expect(pool.take(512).count == 512)
  }

  private func open(
    _ sealed: some Sequence<UInt8>, _ key: [UInt8], _ nonce: [UInt8], _ data: [UInt8]
  ) -> [UInt8]? {
    cipher.open(Array(sealed).span, key: key, nonce: nonce.span, authenticating: data)
  }

  private func flip(_ bytes: [UInt8], _ bit: Int) -> [UInt8] {
    var changed = bytes
    changed[bit / 8] ^= 1 << UInt8(bit % 8)
    return changed
  }
}

/// One test case of "The Galois/Counter Mode of Operation", appendix B, in hexadecimal.
struct GCMVector: Sendable {
  static let key = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"
  static let nonce = "cafebabefacedbaddecaf888"
  static let plaintext =
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657"
    + "ba637b39"
  static let ciphertext =
    "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0a"
    + "bcc9f662"

  var key: String
  var nonce: String
  var plaintext = ""
  var data = ""
  var sealed: String
}

private func zeros(_ count: Int) -> String { String(repeating: "00", count: count) }
