import ByteText
import Cryptography
import Testing

@Suite("Digests, comparison and random bytes")
struct DigestTests {
  @Test("SHA-256 gives the digests of FIPS 180-4")
  func digests() {
    #expect(
      Hex.encode(sha256(Array("abc".utf8))) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(Hex.encode(sha256([])) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
  }

  @Test("7636-B-random-octets: the octets of appendix B give its verifier and its challenge")
  func appendixB() {
    let octets: [UInt8] = [
      116, 24, 223, 180, 151, 153, 224, 37, 79, 250, 96, 125, 216, 173, 187, 186, 22, 212, 37, 77, 105, 214, 191, 240,
      91, 88, 5, 88, 83, 132, 141, 121,
    ]
    let verifier = Base64URL.encode(octets)
    #expect(verifier == "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
    #expect(Base64URL.encode(sha256(Array(verifier.utf8))) == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
  }

  @Test("Equal bytes are equal; a difference in content or length makes them unequal")
  func comparison() {
    #expect(constantTimeEqual([1, 2, 3], [1, 2, 3]))
    #expect(!constantTimeEqual([1, 2, 3], [1, 2, 4]))
    #expect(!constantTimeEqual([1, 2, 3], [1, 2]))
    #expect(constantTimeEqual([UInt8](), []))
    #expect(constantTimeEqual("secret", "secret"))
    #expect(!constantTimeEqual("secret", "Secret"))
  }

  @Test("Random bytes have the requested length and do not repeat")
  func random() {
    #expect(randomBytes(0).isEmpty)
    #expect(randomBytes(32).count == 32)
    #expect(Set((0..<1000).map { _ in randomBytes(16) }).count == 1000)
  }

  @Test("Wiped bytes are removed")
  func wiping() {
    var bytes: [UInt8] = [1, 2, 3]
    wipe(&bytes)
    #expect(bytes.isEmpty)
  }
}
