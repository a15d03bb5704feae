/// The part of an address that stands for one customer.
enum AddressPrefix {
  /// The first four groups of an IPv6 address, the IPv4 address inside a mapped one, and everything else as it is.
  static func of(_ address: String) -> String {
    let literal = address.prefix { $0 != "%" }
    guard literal.contains(":") else { return address }
    if literal.contains("."), let colon = literal.lastIndex(of: ":") {
      return String(literal[literal.index(after: colon)...])
    }
    let halves = literal.split(separator: "::", maxSplits: 1, omittingEmptySubsequences: false)
    let head = groups(halves.first ?? "")
    let tail = halves.count == 2 ? groups(halves[1]) : []
    guard head.count + tail.count <= 8 else { return address }
    let all = head + [UInt16](repeating: 0, count: 8 - head.count - tail.count) + tail
    if all[..<5].allSatisfy({ $0 == 0 }), all[5] == 0xffff {
      return "\(all[6] >> 8).\(all[6] & 0xff).\(all[7] >> 8).\(all[7] & 0xff)"
    }
    return all.prefix(4).map { String($0, radix: 16) }.joined(separator: ":") + "::/64"
  }

  private static func groups(_ text: Substring) -> [UInt16] {
    text.split(separator: ":").map { UInt16($0, radix: 16) ?? 0 }
  }
}
