import OAuth
import Testing
import Time

@Suite("Device flows")
struct DeviceFlowTests {
  @Test(
    "8628-6.1-normalise: a typed code is read without regard to case and to other characters",
    arguments: ["WDJB-MJHT", "wdjb mjht", " W.D.J.B/m-j-h-t\n", "aWeDiJoBu1MJHT", "WDJBMJHT\u{130}"])
  func typed(text: String) throws {
    let code = try #require(UserCode(typed: text))
    #expect(code.letters == "WDJBMJHT")
    #expect(code.text == "WDJB-MJHT")
  }

  @Test(
    "A text with another number of letters, or a very long one, is no code",
    arguments: ["", "WDJB-MJH", "WDJB-MJHTB", "AEIOU", "WDJB-MJHT" + String(repeating: " ", count: 60)])
  func noCode(text: String) {
    #expect(UserCode(typed: text) == nil)
  }

  @Test("A new code has all letters of the alphabet with the same probability, and skips other bytes")
  func random() throws {
    let all = (0...255).map { UInt8($0) }
    let letters = try #require(UserCode(length: 240, random: all)).letters
    for letter in Set(letters) { #expect(letters.count { $0 == letter } == 12) }
    #expect(Set(letters).count == 20)
    #expect(UserCode(length: 8, random: [UInt8](repeating: 255, count: 64)) == nil)
    #expect(try #require(UserCode(length: 12, random: all)).text.count == 14)
  }
}
