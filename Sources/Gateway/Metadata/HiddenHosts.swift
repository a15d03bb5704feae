internal import ByteText

/// The hosts of the upstream. No client may learn them from the gateway's metadata document, because a client that
/// connects to the upstream directly bypasses the gateway.
struct HiddenHosts: Sendable {
  /// Names and addresses in lower case. IPv6 addresses have no brackets.
  let hosts: Set<String>

  func contains(_ host: String) -> Bool { hosts.contains(host) }

  /// Returns true if the text names a hidden host, in any case and percent-encoding.
  func areNamed(in text: String) -> Bool {
    guard !hosts.isEmpty else { return false }
    let text = text.lowercased()
    guard text.contains("%") else { return areWritten(in: text) }
    let decoded = String(decoding: PercentDecoding.repeated(text.utf8.span), as: UTF8.self)
    return areWritten(in: text) || areWritten(in: decoded.lowercased())
  }

  private func areWritten(in text: String) -> Bool {
    hosts.contains { host in
      if host.contains(":") { return text.contains("[\(host)]") }
      // A name without a period is also an ordinary word, so it counts only where a URL has its host.
      let places = host.contains(".") ? [host] : ["//" + host, "@" + host]
      return places.contains { place in
        text.ranges(of: place).contains { range in
          let isBegun = host == place && text[..<range.lowerBound].last.map(HiddenHosts.isPartOfName) ?? false
          let continues = text[range.upperBound...].first.map(HiddenHosts.isPartOfName) ?? false
          return !isBegun && !continues
        }
      }
    }
  }

  /// Returns true for a character that continues a name, so that `a.example.com` is not found in `ba.example.com`. A
  /// period at the end does not continue a name, because it may be that of the root.
  private static func isPartOfName(_ character: Character) -> Bool {
    character.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
  }
}
