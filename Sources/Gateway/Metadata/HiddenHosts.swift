internal import ByteText
import PathReading

/// The hosts of the upstream. No client may learn them from the gateway's metadata document, because a client that
/// connects to the upstream directly bypasses the gateway.
struct HiddenHosts: Sendable {
  /// Names and addresses in lower case. IPv6 addresses have no brackets.
  let hosts: Set<String>

  func contains(_ host: String) -> Bool { hosts.contains(host) }

  /// Returns true if the text names a hidden host, in any case and percent-encoding.
  func areNamed(in text: String) -> Bool {
    guard !hosts.isEmpty else { return false }
    let text = HiddenHosts.folded(Array(text.utf8))
    guard text.contains(UInt8(ascii: "%")) else { return areWritten(in: text.span) }
    return areWritten(in: text.span)
      || areWritten(in: HiddenHosts.folded(PercentDecoding.repeated(text.span)).span)
  }

  /// Returns the text in lower case. Browsers map some characters outside ASCII in a host, for example full-width letters,
  /// to ASCII.
  private static func folded(_ text: [UInt8]) -> [UInt8] {
    text.span.isASCII ? text.map(\.lowercasedASCII) : LenientDecoding.folded(text)
  }

  private func areWritten(in text: Span<UInt8>) -> Bool {
    hosts.contains { host in
      if host.utf8.span.contains(UInt8(ascii: ":")) { return text.contains("[\(host)]") }
      // A name without a period is also an ordinary word, so it counts only where a URL has its host.
      let isWord = !host.utf8.span.contains(UInt8(ascii: "."))
      return HiddenHosts.isName(isWord ? "//" + host : host, in: text, mayFollowName: isWord)
        || isWord && HiddenHosts.isName("@" + host, in: text, mayFollowName: true)
    }
  }

  /// Returns true if `name` occurs in the text and is not a part of a longer name. Bytes are compared: a combining mark
  /// would hide the letter in front of it.
  private static func isName(_ name: String, in text: Span<UInt8>, mayFollowName: Bool) -> Bool {
    let name = name.utf8.span
    var start = 0
    while let found = text.firstIndex(of: name[0], from: start), found + name.count <= text.count {
      start = found + 1
      let end = found + name.count
      guard text.extracting(found..<end).isEqual(to: name) else { continue }
      let isBegun = !mayFollowName && found > 0 && isPartOfName(text[found - 1])
      if !isBegun, end == text.count || !isPartOfName(text[end]) { return true }
    }
    return false
  }

  /// Returns true for a byte that continues a name, so that `a.example.com` is not found in `ba.example.com`. A period at the
  /// end does not continue a name, because it may be that of the root.
  private static func isPartOfName(_ byte: UInt8) -> Bool {
    byte.isLetterOrDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
  }
}
