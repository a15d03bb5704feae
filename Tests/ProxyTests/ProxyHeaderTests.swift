import Reactor
import Testing

@testable import Proxy

struct ProxyHeaderTests {
  private static let signature: [UInt8] = [0x0d, 0x0a, 0x0d, 0x0a, 0, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a]
  private static let ipv4: [UInt8] = [192, 0, 2, 1, 10, 0, 0, 1, 0x0f, 0xa0, 0x00, 0x50]
  private static let ipv6: [UInt8] =
    [0x20, 0x01, 0x0d, 0xb8] + [UInt8](repeating: 0, count: 11) + [1] + [UInt8](repeating: 0, count: 15) + [
      1, 0, 9, 0, 80,
    ]

  private static func binary(_ command: UInt8, _ family: UInt8, _ block: [UInt8]) -> [UInt8] {
    signature + [command, family, UInt8(block.count >> 8), UInt8(block.count & 0xff)] + block
  }

  private func parse(_ bytes: [UInt8]) -> ProxyHeader.Outcome { ProxyHeader.parse(bytes.span) }

  private func told(_ bytes: [UInt8]) -> String {
    switch parse(bytes) {
    case .incomplete: "incomplete"
    case .malformed: "malformed"
    case .complete(let length, nil): "\(length) own"
    case .complete(let length, let client?): "\(length) \(client.address)\(client.isSecure ? " TLS" : "")"
    }
  }

  @Test(
    "A header of version 1 gives the client's address",
    arguments: [
      ("PROXY TCP4 192.0.2.1 10.0.0.1 4000 80\r\n", "39 192.0.2.1:4000"),
      ("PROXY TCP6 2001:db8::1 ::1 65535 0\r\nGET", "36 [2001:db8::1]:65535"), ("PROXY UNKNOWN\r\n", "15 own"),
      ("PROXY UNKNOWN ffff::1 anything at all\r\n", "39 own"),
      ("PROXY TCP4 192.0.2.1 10.0.0.1 4000 80\r", "incomplete"), ("PROXY TCP4 192", "incomplete"), ("P", "incomplete"),
      ("", "incomplete"), ("PROXY TCP4 192.0.2.1 10.0.0.1 4000 80\n", "malformed"),
      ("PROXY TCP4 192.0.2.1 10.0.0.1 4000 80\rX", "malformed"),
      ("PROXY  TCP4 192.0.2.1 10.0.0.1 4000 80\r\n", "malformed"),
      ("PROXY TCP4 192.0.2.1 10.0.0.1 4000 80 \r\n", "malformed"),
      ("PROXY TCP4 192.0.2.1 10.0.0.1 4000\r\n", "malformed"),
      ("PROXY TCP4 192.0.2.1 10.0.0.1 04000 80\r\n", "malformed"),
      ("PROXY TCP4 192.0.2.1 10.0.0.1 65536 80\r\n", "malformed"),
      ("PROXY TCP4 192.0.2.1 10.0.0.1 -1 80\r\n", "malformed"),
      ("PROXY TCP4 192.0.2.1 10.0.0.1 +1 80\r\n", "malformed"),
      ("PROXY TCP4 192.0.2.01 10.0.0.1 1 80\r\n", "malformed"),
      ("PROXY TCP4 2001:db8::1 ::1 1 80\r\n", "malformed"), ("PROXY TCP6 192.0.2.1 10.0.0.1 1 80\r\n", "malformed"),
      ("PROXY TCP4 a.example 10.0.0.1 1 80\r\n", "malformed"), ("PROXY UDP4 192.0.2.1 10.0.0.1 1 80\r\n", "malformed"),
      ("proxy TCP4 192.0.2.1 10.0.0.1 1 80\r\n", "malformed"), ("GET / HTTP/1.1\r\n", "malformed"),
      ("PROXY TCP4\t192.0.2.1 10.0.0.1 1 80\r\n", "malformed"), ("PROXY \r\n", "malformed"),
    ])
  func lines(_ line: String, _ expected: String) {
    #expect(told(Array(line.utf8)) == expected)
  }

  @Test("A line of version 1 must end within 107 bytes")
  func longLine() {
    let start = "PROXY UNKNOWN "
    let filler = String(repeating: "x", count: 105 - start.utf8.count)
    #expect(told(Array("\(start)\(filler)\r\n".utf8)) == "107 own")
    #expect(told(Array("\(start)\(filler)x\r\n".utf8)) == "malformed")
    #expect(told(Array("\(start)\(filler)".utf8)) == "incomplete")
    #expect(told(Array("\(start)\(filler)xx".utf8)) == "malformed")
  }

  @Test("A header of version 2 gives the client's address")
  func binary() {
    #expect(told(Self.binary(0x21, 0x11, Self.ipv4)) == "28 192.0.2.1:4000")
    #expect(told(Self.binary(0x21, 0x21, Self.ipv6)) == "52 [2001:db8::1]:9")
    // LOCAL, unspecified and Unix sockets give no client address.
    #expect(told(Self.binary(0x20, 0x00, [])) == "16 own")
    #expect(told(Self.binary(0x20, 0x11, Self.ipv4)) == "28 own")
    #expect(told(Self.binary(0x21, 0x00, [])) == "16 own")
    #expect(told(Self.binary(0x21, 0x31, [UInt8](repeating: 0x61, count: 216))) == "232 own")
    // The bytes after the header belong to the next protocol.
    #expect(told(Self.binary(0x21, 0x11, Self.ipv4) + Array("GET".utf8)) == "28 192.0.2.1:4000")
  }

  @Test("TLVs are skipped, except the one about TLS")
  func values() {
    let authority: [UInt8] = [0x02, 0, 3, 0x61, 0x2e, 0x62]
    let tls: [UInt8] = [0x20, 0, 5, 0x01, 0, 0, 0, 0]
    let plain: [UInt8] = [0x20, 0, 5, 0x00, 0, 0, 0, 0]
    #expect(told(Self.binary(0x21, 0x11, Self.ipv4 + authority)) == "34 192.0.2.1:4000")
    #expect(told(Self.binary(0x21, 0x11, Self.ipv4 + authority + tls)) == "42 192.0.2.1:4000 TLS")
    #expect(told(Self.binary(0x21, 0x11, Self.ipv4 + plain)) == "36 192.0.2.1:4000")
    for torn: [UInt8] in [[0x02], [0x02, 0], [0x02, 0, 1], [0x02, 0xff, 0xff, 0], [0x20, 0, 1, 1]] {
      #expect(told(Self.binary(0x21, 0x11, Self.ipv4 + torn)) == "malformed")
    }
  }

  @Test("A malformed header of version 2 is refused")
  func malformed() {
    #expect(told(Self.binary(0x11, 0x11, Self.ipv4)) == "malformed")
    #expect(told(Self.binary(0x22, 0x11, Self.ipv4)) == "malformed")
    #expect(told(Self.binary(0x21, 0x41, Self.ipv4)) == "malformed")
    #expect(told(Self.binary(0x21, 0x13, Self.ipv4)) == "malformed")
    #expect(told(Self.binary(0x21, 0x12, Self.ipv4)) == "malformed")
    #expect(told(Self.binary(0x21, 0x11, Array(Self.ipv4.dropLast()))) == "malformed")
    #expect(told(Self.binary(0x21, 0x21, Self.ipv4)) == "malformed")
    // The parser does not wait for more bytes than any header needs.
    #expect(told(Self.signature + [0x21, 0x11, 0xff, 0xff]) == "malformed")
    #expect(told(Array(Self.signature.dropLast()) + [0x0d]) == "malformed")
  }

  @Test("Every prefix of a header is incomplete, in either version")
  func parts() {
    for whole in [Array("PROXY TCP4 192.0.2.1 10.0.0.1 4000 80\r\n".utf8), Self.binary(0x21, 0x11, Self.ipv4)] {
      for count in 0..<whole.count { #expect(told(Array(whole[..<count])) == "incomplete") }
    }
  }
}
