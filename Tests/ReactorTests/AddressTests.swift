import Reactor
import Testing

struct AddressTests {
  @Test(
    "Literals are parsed, and written in canonical form",
    arguments: [
      ("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("2001:DB8:0:0::1", "2001:db8::1"), ("0.0.0.0", "0.0.0.0"),
      ("::", "::"),
      ("::ffff:192.0.2.1", "::ffff:192.0.2.1"),
    ])
  func literals(_ text: String, _ canonical: String) {
    let address = Address(literal: text, port: 80)
    #expect(address?.host == canonical)
    #expect(address?.port == 80)
  }

  @Test(
    "Text that is not a literal is refused",
    arguments: [
      "", "localhost", "127.1", "127.0.0.1.", "0177.0.0.1", "256.0.0.1", "[::1]", "::1%lo", "1.2.3.4:5", " 1.2.3.4",
      "0x7f000001", "2130706433",
    ])
  func names(_ text: String) {
    #expect(Address(literal: text, port: 80) == nil)
  }

  @Test("A port has at most 16 bits")
  func ports() {
    #expect(Address(literal: "::1", port: 65_536) == nil)
    #expect(Address(literal: "::1", port: -1) == nil)
    #expect(Address(literal: "::1", port: 65_535)?.description == "[::1]:65535")
  }

  @Test("Loopback is 127/8 and ::1")
  func loopback() {
    #expect(Address(literal: "127.255.0.9", port: 0)?.isLoopback == true)
    #expect(Address(literal: "::1", port: 0)?.isLoopback == true)
    #expect(Address(literal: "128.0.0.1", port: 0)?.isLoopback == false)
    #expect(Address(literal: "::2", port: 0)?.isLoopback == false)
    #expect(Address(literal: "::", port: 0)?.isLoopback == false)
  }

  @Test("Addresses are equal by family, bytes and port")
  func equality() {
    #expect(Address(literal: "::1", port: 1) == Address(literal: "0:0:0:0:0:0:0:1", port: 1))
    #expect(Address(literal: "::1", port: 1) != Address(literal: "::1", port: 2))
    #expect(Address(literal: "1.2.3.4", port: 1) != Address(literal: "::ffff:1.2.3.4", port: 1))
    #expect(
      Address(literal: "1.2.3.4", port: 1)?.mappedBytes == Address(literal: "::ffff:1.2.3.4", port: 1)?.mappedBytes)
    #expect(Set([Address(literal: "1.2.3.4", port: 1), Address(literal: "1.2.3.4", port: 1)]).count == 1)
  }
}
