import Reactor

@testable import Proxy

/// Input: the first bytes of a connection. A header of the PROXY protocol ends at the same place however its bytes
/// arrive, and gives the same client if it is written in the other version.
enum ProxyHeaderTarget {
  static func check(_ input: [UInt8]) throws(Violation) {
    // Longer than any header.
    guard input.count <= 8_192 else { return }
    let whole = ProxyHeader.parse(input.span)
    let end: Int
    switch whole {
    case .incomplete: end = input.count + 1
    case .malformed: end = Self.firstVerdict(input)
    case .complete(let length, _):
      end = length
      try Violation.unless(length <= input.count, "longer than what came")
    }
    for count in Self.cuts(input.count, end) {
      let part = ProxyHeader.parse(input.span.extracting(0..<count))
      try Violation.unless(
        part == (count < end ? .incomplete : whole), "another verdict after \(count) of \(input.count) bytes")
    }
    guard case .complete(let length, let client) = whole else { return }
    let header = Array(input[..<length])
    try Violation.unless(Self.isHeader(header), "not in the form of either version")
    if let client { try checkAgain(header, client) }
  }

  /// The smallest number of bytes at which the header is known to be malformed. Found by bisection: a verdict is final,
  /// and the cuts before and after it prove that.
  private static func firstVerdict(_ input: [UInt8]) -> Int {
    var known = input.count
    var open = 0
    while known - open > 1 {
      let middle = (known + open) / 2
      if ProxyHeader.parse(input.span.extracting(0..<middle)) == .incomplete { open = middle } else { known = middle }
    }
    return known
  }

  /// Every length around the start and the end, and some in between.
  private static func cuts(_ count: Int, _ end: Int) -> [Int] {
    (0...count).filter { $0 < 128 || abs($0 - end) < 16 || $0 % 61 == 0 || $0 == count }
  }

  private static let signature: [UInt8] = [
    0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a,
  ]

  /// True for a line that ends at its only line end, and for a block that has the length in its header.
  private static func isHeader(_ header: [UInt8]) -> Bool {
    if header.starts(with: signature) {
      return header.count >= 16 && header.count == 16 + Int(header[14]) * 256 + Int(header[15])
    }
    let text = header.dropLast(2)
    return header.count <= 107 && header.starts(with: Array("PROXY ".utf8)) && header.suffix(2) == [0x0d, 0x0a]
      && text.allSatisfy { $0 >= 0x20 && $0 < 0x7f }
  }

  /// A header that is written from the parsed values, in both versions, parses to the same values.
  private static func checkAgain(_ header: [UInt8], _ client: ProxyHeader.Client) throws(Violation) {
    let address = client.address
    let bytes = address.isIPv6 ? address.mappedBytes : Array(address.mappedBytes.suffix(4))
    let port = [UInt8(address.port >> 8), UInt8(address.port & 0xff)]
    var block = bytes + bytes + port + port
    if client.isSecure { block += [0x20, 0, 5, 1, 0, 0, 0, 0] }
    let family: UInt8 = address.isIPv6 ? 0x21 : 0x11
    let binary = signature + [0x21, family, UInt8(block.count >> 8), UInt8(block.count & 0xff)] + block
    try Violation.unless(
      ProxyHeader.parse(binary.span) == .complete(length: binary.count, client: client), "binary, it reads otherwise")
    let words = ["PROXY", address.isIPv6 ? "TCP6" : "TCP4", address.host, address.host, "\(address.port)", "0"]
    let line = Array((words.joined(separator: " ") + "\r\n").utf8)
    // A line cannot report whether the client's connection uses TLS.
    let plain = ProxyHeader.Client(address: address, isSecure: false)
    try Violation.unless(
      ProxyHeader.parse(line.span) == .complete(length: line.count, client: plain), "as a line, it reads otherwise")
    guard !header.starts(with: signature) else { return }
    try Violation.unless(!client.isSecure, "a line that speaks of TLS")
    let said = String(decoding: header.dropLast(2), as: UTF8.self).split(separator: " ")
    try Violation.unless(
      said.count == 6 && Address(literal: String(said[2]), port: Int(said[4]) ?? -1) == address, "another client")
  }
}
