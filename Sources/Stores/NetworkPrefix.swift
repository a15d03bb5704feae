internal import Cryptography

/// The first bits of an IP address, which identify the network of one customer or one site.
public struct NetworkPrefix: Hashable, Sendable {
  private enum Family: Hashable, Sendable {
    case ipv4
    case ipv6
    /// A text that is not an address, represented by its digest.
    case other
  }

  private let family: Family
  private let bits: UInt64

  /// Reads the prefix of an address.
  ///
  /// - Parameters:
  ///   - address: the address as text. An IPv4-mapped IPv6 address is treated as the IPv4 address.
  ///   - ipv4Bits: the number of significant bits of an IPv4 address, 0 to 32.
  ///   - ipv6Bits: the number of significant bits of an IPv6 address, 0 to 64.
  public init(_ address: String, ipv4Bits: Int, ipv6Bits: Int) {
    // Most addresses are IPv4, and reading bytes costs a tenth of reading characters.
    if let number = NetworkPrefix.dottedQuad(address.utf8) {
      family = .ipv4
      bits = UInt64(number) >> (32 - ipv4Bits)
      return
    }
    let literal = address.prefix { $0 != "%" }
    if let number = NetworkPrefix.ipv4(literal) {
      family = .ipv4
      bits = UInt64(number) >> (32 - ipv4Bits)
    } else if let number = NetworkPrefix.ipv6(literal) {
      family = .ipv6
      bits = ipv6Bits == 0 ? 0 : number >> (64 - ipv6Bits)
    } else {
      family = .other
      bits = sha256(Array(address.utf8)).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
  }

  /// A 64-bit number for the prefix, the same on every replica. Two different prefixes of addresses have different
  /// codes if both were created with the same numbers of significant bits, and with fewer than 64 for IPv6.
  var code: UInt64 {
    switch family {
    // The bits of an IPv6 prefix are inverted. A prefix of up to 63 bits has leading zeros, so its code begins with a
    // one. The code of an IPv4 prefix begins with zeros.
    case .ipv4: bits
    case .ipv6: ~bits
    case .other: bits
    }
  }

  /// Reads the code of an IPv4 /24 or IPv6 /48 network.
  init(networkCode code: UInt64) {
    if code < 1 << 24 {
      family = .ipv4
      bits = code
    } else if ~code < 1 << 48 {
      family = .ipv6
      bits = ~code
    } else {
      family = .other
      bits = code
    }
  }

  /// Returns the code of the IPv4 /24 or IPv6 /48 network of an address.
  public static func networkCode(of address: String) -> UInt64 {
    NetworkPrefix(address, ipv4Bits: 24, ipv6Bits: 48).code
  }

  /// Returns the text of the IPv4 /24 or IPv6 /48 network of an address; `other` for a text that is not an address.
  public static func networkText(of address: String) -> String {
    text(ofCode: networkCode(of: address))
  }

  /// Returns the text of an IPv4 /24 or IPv6 /48 network from its code; `other` for a text that is not an address.
  static func text(ofCode code: UInt64) -> String {
    let prefix = NetworkPrefix(networkCode: code)
    let bits = prefix.bits
    switch prefix.family {
    case .ipv4: return "\(bits >> 16).\(bits >> 8 & 0xff).\(bits & 0xff).0/24"
    case .ipv6: return [32, 16, 0].map { String(bits >> $0 & 0xffff, radix: 16) }.joined(separator: ":") + "::/48"
    case .other: return "other"
    }
  }

  /// Returns the IPv4 address of a dotted quad, of an IPv6 literal that ends in a dotted quad, or of an IPv4-mapped
  /// IPv6 address.
  private static func ipv4(_ literal: Substring) -> UInt32? {
    guard literal.contains(":") else { return dottedQuad(literal.utf8) }
    guard literal.contains("."), let colon = literal.lastIndex(of: ":") else { return mapped(literal) }
    return dottedQuad(literal[literal.index(after: colon)...].utf8)
  }

  private static func dottedQuad(_ text: some Sequence<UInt8>) -> UInt32? {
    var number: UInt32 = 0
    var octet: UInt32 = 0
    var digits = 0
    var octets = 1
    for byte in text {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        octet = octet * 10 + UInt32(byte &- UInt8(ascii: "0"))
        digits += 1
        guard octet <= 255, digits <= 3 else { return nil }
      case UInt8(ascii: "."):
        guard digits > 0, octets < 4 else { return nil }
        number = number << 8 | octet
        octets += 1
        octet = 0
        digits = 0
      default: return nil
      }
    }
    guard octets == 4, digits > 0 else { return nil }
    return number << 8 | octet
  }

  /// Returns the IPv4 address of an IPv4-mapped IPv6 address such as `::ffff:c000:201`.
  private static func mapped(_ literal: Substring) -> UInt32? {
    guard let groups = groups(of: literal), groups[..<5].allSatisfy({ $0 == 0 }), groups[5] == 0xffff else {
      return nil
    }
    return UInt32(groups[6]) << 16 | UInt32(groups[7])
  }

  /// Returns the first 64 bits of an IPv6 address.
  private static func ipv6(_ literal: Substring) -> UInt64? {
    guard literal.contains(":"), let groups = groups(of: literal) else { return nil }
    return groups[..<4].reduce(0) { $0 << 16 | UInt64($1) }
  }

  /// Returns the eight groups of an IPv6 address, or `nil` if there are more or fewer, or if one is not hexadecimal.
  private static func groups(of literal: Substring) -> [UInt16]? {
    let halves = literal.split(separator: "::", maxSplits: 1, omittingEmptySubsequences: false)
    var parts: [[UInt16]] = []
    for half in halves {
      var groups: [UInt16] = []
      for text in half.split(separator: ":") {
        guard let group = UInt16(text, radix: 16) else { return nil }
        groups.append(group)
      }
      parts.append(groups)
    }
    guard let head = parts.first else { return nil }
    let tail = parts.count == 2 ? parts[1] : []
    let missing = 8 - head.count - tail.count
    guard parts.count == 2 ? missing >= 0 : missing == 0 else { return nil }
    return head + [UInt16](repeating: 0, count: missing) + tail
  }
}
