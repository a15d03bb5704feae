internal import ByteText

/// A parser of IP address literals. Other notations of IPv4 addresses, such as `127.1` or `0x7f.1`, are rejected.
enum AddressText {
  /// Returns the 16 bytes of an address, with an IPv4 address as an IPv4-mapped one (`::ffff:a.b.c.d`); `nil` if the
  /// text is not an address.
  static func parse(_ text: some StringProtocol) -> [UInt8]? {
    if text.utf8.contains(UInt8(ascii: ":")) { return parseIPv6(text) }
    return parseIPv4(text).map { [UInt8](repeating: 0, count: 10) + [0xff, 0xff] + $0 }
  }

  /// Returns the 4 bytes of a dotted quad without leading zeros; `nil` for any other text.
  static func parseIPv4(_ text: some StringProtocol) -> [UInt8]? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var bytes: [UInt8] = []
    for part in parts {
      guard isCanonicalNumber(part), let byte = UInt8(part) else { return nil }
      bytes.append(byte)
    }
    return bytes
  }

  /// Returns the 16 bytes of an IPv6 address (RFC 4291, section 2.2) without a zone identifier; `nil` for any other
  /// text.
  static func parseIPv6(_ text: some StringProtocol) -> [UInt8]? {
    let halves = split(String(text))
    guard let halves else { return nil }
    guard let head = groups(halves.head, mayEndInIPv4: halves.tail == nil) else { return nil }
    guard let tailText = halves.tail else { return head.count == 16 ? head : nil }
    // `::` replaces at least one group, so the groups around it have at most 14 bytes.
    guard let tail = groups(tailText, mayEndInIPv4: true), head.count + tail.count <= 14 else { return nil }
    return head + [UInt8](repeating: 0, count: 16 - head.count - tail.count) + tail
  }

  /// Returns true for a decimal number without leading zeros. Some parsers interpret a leading zero as octal.
  static func isCanonicalNumber(_ text: some StringProtocol) -> Bool {
    let digits = text.utf8
    guard let first = digits.first, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
      return false
    }
    return digits.count == 1 || first != UInt8(ascii: "0")
  }

  /// Returns the text in front of `::` as the head and the text after it as the tail. Without `::`, the whole text is
  /// the head. Returns `nil` if `::` occurs twice.
  private static func split(_ text: String) -> (head: Substring, tail: Substring?)? {
    let bytes = Array(text.utf8)
    let colon = UInt8(ascii: ":")
    let positions = bytes.indices.dropLast().filter { bytes[$0] == colon && bytes[$0 + 1] == colon }
    guard positions.count <= 1 else { return nil }
    guard let position = positions.first else { return (text[...], nil) }
    let start = text.utf8.index(text.startIndex, offsetBy: position)
    return (text[..<start], text[text.utf8.index(start, offsetBy: 2)...])
  }

  /// Parses groups of hexadecimal digits that are separated by colons. Returns two bytes for each group; `nil` if the
  /// text is malformed.
  ///
  /// - Parameter mayEndInIPv4: True if an IPv4 address may replace the last two groups.
  private static func groups(_ text: Substring, mayEndInIPv4: Bool) -> [UInt8]? {
    guard !text.isEmpty else { return [] }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    var bytes: [UInt8] = []
    for (position, part) in parts.enumerated() {
      if mayEndInIPv4, position == parts.count - 1, let last = parseIPv4(part) {
        bytes += last
      } else {
        guard (1...4).contains(part.utf8.count), part.utf8.allSatisfy(\.isHexadecimalDigit),
          let group = UInt16(part, radix: 16)
        else {
          return nil
        }
        bytes += [UInt8(truncatingIfNeeded: group >> 8), UInt8(truncatingIfNeeded: group)]
      }
    }
    return bytes.count <= 16 ? bytes : nil
  }
}
