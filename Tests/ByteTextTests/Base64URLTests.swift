import ByteText
import Cryptography
import Testing

@Suite("Base64url")
struct Base64URLTests {
  @Test("7636-A-base64url: the octets of appendix A encode without padding")
  func appendixA() {
    #expect(Base64URL.encode([3, 236, 255, 224, 193]) == "A-z_4ME")
    #expect(Base64URL.decode("A-z_4ME") == [3, 236, 255, 224, 193])
  }

  @Test(
    "The vectors of RFC 4648 encode without padding and decode again",
    arguments: [
      ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
      ("foobar", "Zm9vYmFy"),
    ])
  func vectors(plain: String, encoded: String) {
    #expect(Base64URL.encode(Array(plain.utf8)) == encoded)
    #expect(Base64URL.decode(encoded) == Array(plain.utf8))
  }

  @Test(
    "Padding, white space, the other alphabet and stray bits are refused",
    arguments: [
      "Zg==", "Zg=", "Zm9v=", " Zg", "Zg ", "Zg\n", "Z", "Zm9vY", "Zh", "Zm9", "Zm+/", "Zmü", "Zg\0", "....",
    ])
  func nonCanonical(text: String) {
    #expect(Base64URL.decode(text) == nil)
  }

  @Test("Of the last characters that a lenient decoder accepts, only one is accepted")
  func oneSpelling() {
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-c"
    #expect(alphabet.filter { Base64URL.decode(challenge + String($0)) != nil }.count == 16)
    let spellings = alphabet.compactMap { Base64URL.decode(challenge + String($0)) }
    #expect(Set(spellings).count == spellings.count)
  }

  @Test("Every length is decoded to the encoded bytes")
  func roundTrip() {
    for length in 0...70 {
      let bytes = randomBytes(length)
      let text = Base64URL.encode(bytes)
      #expect(text.utf8.count == (length * 4 + 2) / 3)
      #expect(Base64URL.decode(text) == bytes)
    }
  }

  @Test("Hexadecimal is lower case and has an even length")
  func hexadecimal() {
    #expect(Hex.encode([0, 0x1f, 0xff]) == "001fff")
    #expect(Hex.decode("001fff") == [0, 0x1f, 0xff])
    #expect(Hex.decode("001FFF") == nil)
    #expect(Hex.decode("001") == nil)
    #expect(Hex.decode("0g") == nil)
  }
}
