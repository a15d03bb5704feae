internal import ByteText

/// An origin whose scripts may read responses, in the form in which browsers and web views send it in `Origin` (RFC 6454,
/// section 7).
public struct ScriptOrigin: Hashable, Sendable, CustomStringConvertible {
  /// The value of the field.
  public let description: String
  /// True for the pages of a web view in an app: the scheme is not that of a web server, or the host is `localhost` or a
  /// name below it without a port, at which no other machine can have pages.
  public let isOfApp: Bool

  /// Creates the origin of a web server, or of the pages of an app that have the form of one.
  public init(_ origin: Origin) {
    description = origin.description
    isOfApp =
      (origin.host == "localhost" || origin.host.hasSuffix(".localhost"))
      && origin.port == (origin.scheme == .https ? 443 : 80)
  }

  /// Creates an origin such as `capacitor://localhost` or `chrome-extension://ID`; `nil` for another text, and for http and
  /// https.
  public init?(ofApp text: String) {
    let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false).map(\.utf8)
    guard parts.count == 2, let first = parts[0].first, first.isLowercaseLetter, !parts[1].isEmpty,
      parts[0].allSatisfy({ $0.isLowercaseLetter || $0.isDigit || [0x2b, 0x2d, 0x2e].contains($0) }),
      parts[1].allSatisfy({ $0.isLowercaseLetter || $0.isDigit || [0x2d, 0x2e, 0x5f].contains($0) }),
      !text.hasPrefix("http://"), !text.hasPrefix("https://")
    else { return nil }
    description = text
    isOfApp = true
  }
}
