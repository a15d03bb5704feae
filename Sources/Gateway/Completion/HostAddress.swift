internal import ByteText

/// An IP address as the host of a URL, as browsers parse it (WHATWG URL, "host parser"). An IPv4 address has one to
/// four parts, which are decimal, octal or hexadecimal. An IPv6 address is in brackets.
enum HostAddress: Equatable, CustomStringConvertible {
  /// An IPv4 address as a number; the first byte is the most significant.
  case ipv4(UInt32)
  /// An IPv6 address, 16 bytes.
  case ipv6([UInt8])

  /// Parses a percent-decoded host in lower case; `nil` if it is not an IP address.
  init?(_ host: ArraySlice<UInt8>) {
    if host.first == UInt8(ascii: "[") {
      guard let bytes = HostAddress.parseIPv6(host.dropFirst().prefix { $0 != UInt8(ascii: "]") }) else { return nil }
      self = .ipv6(bytes)
    } else {
      guard let value = HostAddress.parseIPv4(host) else { return nil }
      self = .ipv4(value)
    }
  }

  /// The canonical text: four decimal parts for an IPv4 address; eight hexadecimal pieces in brackets for an IPv6
  /// address.
  var description: String {
    switch self {
    case .ipv4(let value): [24, 16, 8, 0].map { String(value >> $0 & 0xff) }.joined(separator: ".")
    case .ipv6(let bytes):
      "["
        + stride(from: 0, to: 16, by: 2).map { String(Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]), radix: 16) }
        .joined(separator: ":") + "]"
    }
  }

  /// True if a connection to the address stays on the same machine: 127.0.0.0/8, 0.0.0.0/8, `::1`, `::`, and the
  /// IPv4-mapped and IPv4-compatible IPv6 addresses of 127.0.0.0/8 and 0.0.0.0/8.
  var isLoopback: Bool {
    switch self {
    case .ipv4(let value): value >> 24 == 127 || value >> 24 == 0
    case .ipv6(let bytes):
      switch (bytes[..<10].allSatisfy { $0 == 0 }, bytes[10], bytes[11]) {
      case (true, 0xff, 0xff), (true, 0, 0):
        // IPv4-mapped addresses are in `::ffff:0:0/96`, IPv4-compatible ones in `::/96`, as are `::` and `::1`.
        bytes[12] == 127 || bytes[12] == 0
      default: false
      }
    }
  }

  /// Parses an IPv4 address. Each part but the last is one byte; the last part is the value of all remaining bytes
  /// (WHATWG URL, "IPv4 parser").
  private static func parseIPv4(_ host: ArraySlice<UInt8>) -> UInt32? {
    var parts = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    if parts.count > 1, parts.last?.isEmpty ?? false { parts.removeLast() }
    guard parts.count <= 4 else { return nil }
    var numbers: [UInt64] = []
    for part in parts {
      guard let number = number(part) else { return nil }
      numbers.append(number)
    }
    guard let last = numbers.popLast(), numbers.allSatisfy({ $0 < 256 }), last < 1 << (8 * (4 - numbers.count))
    else {
      return nil
    }
    var value = last
    for (index, number) in numbers.enumerated() { value |= number << (8 * (3 - index)) }
    return UInt32(value)
  }

  /// Parses one part of an IPv4 address: hexadecimal after `0x`, octal after `0`, otherwise decimal. Returns
  /// `1 << 40` for every larger number, because a long digit string would overflow, and no part may be that large.
  private static func number(_ part: ArraySlice<UInt8>) -> UInt64? {
    guard !part.isEmpty else { return nil }
    var digits = part
    var radix: UInt64 = 10
    if part.starts(with: "0x".utf8) {
      digits = part.dropFirst(2)
      radix = 16
    } else if part.count > 1, part.first == UInt8(ascii: "0") {
      digits = part.dropFirst()
      radix = 8
    }
    var value: UInt64 = 0
    for digit in digits {
      guard let digit = digit.hexadecimalValue, digit < radix else { return nil }
      value = min(value * radix + UInt64(digit), 1 << 40)
    }
    return value
  }

  /// Parses an IPv6 address, whose last two pieces may be an IPv4 address (WHATWG URL, "IPv6 parser").
  private static func parseIPv6(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    let halves = halves(of: text)
    guard let front = pieces(halves.front, endsAddress: halves.back == nil) else { return nil }
    guard let back = halves.back else { return front.count == 16 ? front : nil }
    // The `::` replaces at least one piece of two bytes.
    guard let end = pieces(back, endsAddress: true), front.count + end.count <= 14 else { return nil }
    return front + [UInt8](repeating: 0, count: 16 - front.count - end.count) + end
  }

  /// Splits the text at the first `::`. The second part is `nil` if there is no `::`.
  private static func halves(of text: ArraySlice<UInt8>) -> (front: ArraySlice<UInt8>, back: ArraySlice<UInt8>?) {
    for index in text.indices.dropLast() where text[index] == UInt8(ascii: ":") && text[index + 1] == UInt8(ascii: ":")
    {
      return (text[..<index], text[(index + 2)...])
    }
    return (text, nil)
  }

  /// Parses hexadecimal pieces that are separated by colons, into two bytes for each piece.
  ///
  /// - Parameter endsAddress: True if the text is the end of the address, so that an IPv4 address may be its last
  ///   piece.
  private static func pieces(_ text: ArraySlice<UInt8>, endsAddress: Bool) -> [UInt8]? {
    guard !text.isEmpty else { return [] }
    var bytes: [UInt8] = []
    let pieces = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    for (index, piece) in pieces.enumerated() {
      if endsAddress, index == pieces.count - 1, piece.contains(UInt8(ascii: ".")) {
        guard let value = parseIPv4(piece) else { return nil }
        bytes += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
        continue
      }
      guard !piece.isEmpty, piece.count <= 4 else { return nil }
      var value: UInt16 = 0
      for digit in piece {
        guard let digit = digit.hexadecimalValue else { return nil }
        value = value << 4 | UInt16(digit)
      }
      bytes += [UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value)]
    }
    return bytes
  }
}
