/// A redirect URI, which RFC 6749, section 3.1.2 calls redirection endpoint, parsed strictly and kept as written.
///
/// Parsing (`RedirectURI+Parsing.swift`) accepts less than RFC 3986: it refuses each text that two readers could read
/// in two ways. A redirect URI is therefore ASCII only, and two of them mean the same if their bytes are equal.
public struct RedirectURI: Hashable, Sendable, CustomStringConvertible {
  /// The maximum length in bytes: enough for any app, and within the limits of every browser.
  public static let maximumLength = 2048

  /// The literals that loopback redirects may use (RFC 8252, section 7.3).
  public enum LoopbackFamily: Hashable, Sendable {
    case ipv4
    case ipv6
  }

  /// The kinds of RFC 8252, section 7, and two more that are accepted: `localhost` and `broker`.
  public enum Kind: Hashable, Sendable {
    /// Section 7.1.
    case privateUse(scheme: String)
    /// Section 7.2, and every redirect URI of a web client.
    case https(host: String)
    /// Section 7.3: http on a loopback literal.
    case loopback(family: LoopbackFamily, port: Int?)
    /// http on the name `localhost` (section 8.3: not recommended).
    case localhost(port: Int?)
    /// `msapp://SID`, the callback of the Windows Web Authentication Broker (appendix B.3).
    case broker
  }

  /// The URI exactly as written: this text is compared and sent.
  public let text: String
  /// The kind of the URI, with the parts that matching needs.
  public let kind: Kind
  /// The offset of the path in `text`, in bytes; the length of `text` if both the path and the query are missing.
  let pathStart: Int

  init(text: String, kind: Kind, pathStart: Int) {
    self.text = text
    self.kind = kind
    self.pathStart = pathStart
  }

  /// The URI exactly as written.
  public var description: String { text }

  /// The path and query as written.
  public var pathAndQuery: Substring {
    text[text.utf8.index(text.startIndex, offsetBy: pathStart)...]
  }

  /// The path as written.
  public var path: Substring {
    let rest = pathAndQuery
    // Searches bytes: characters take twenty times as long, and a policy has many URIs.
    guard let mark = rest.utf8.firstIndex(of: UInt8(ascii: "?")) else { return rest }
    return rest[..<mark]
  }

  /// The text after the first question mark; `nil` without one.
  public var query: Substring? {
    let rest = pathAndQuery
    guard let mark = rest.utf8.firstIndex(of: UInt8(ascii: "?")) else { return nil }
    return rest[rest.utf8.index(after: mark)...]
  }

  /// The URI without its query, and without the port of a loopback address, which the app chooses at run time.
  public var address: String {
    switch kind {
    case .loopback(.ipv4, _): "http://127.0.0.1" + path
    case .loopback(.ipv6, _): "http://[::1]" + path
    case .localhost: "http://localhost" + path
    case .privateUse, .https, .broker: String(text.prefix { $0 != "?" })
    }
  }

  /// The scheme of a private-use URI; `nil` for the other kinds.
  public var privateUseScheme: String? {
    guard case .privateUse(let scheme) = kind else { return nil }
    return scheme
  }

  /// True if a private-use URI has two slashes after its scheme, so that the next part is read as a host (RFC 8252,
  /// section 7.1).
  public var hasPrivateUseAuthority: Bool {
    guard let scheme = privateUseScheme else { return false }
    return text.utf8.dropFirst(scheme.utf8.count).starts(with: "://".utf8)
  }
}
