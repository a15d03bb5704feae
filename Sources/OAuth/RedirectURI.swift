internal import ByteText

/// A redirect URI ("redirection endpoint" in RFC 6749, section 3.1.2), parsed strictly and kept as written.
///
/// The parser (`RedirectURI+Parsing.swift`) accepts less than RFC 3986. It refuses each text that two programs could
/// read in different ways. A redirect URI contains only ASCII, so two URIs are equal only if their bytes are equal.
public struct RedirectURI: Hashable, Sendable, CustomStringConvertible {
  /// The maximum length in bytes. It is enough for any app, and within the limits of every browser.
  public static let maximumLength = 2048

  /// The loopback literals that redirect URIs may contain (RFC 8252, section 7.3).
  public enum LoopbackFamily: Hashable, Sendable {
    case ipv4
    case ipv6
  }

  /// The kinds of RFC 8252, section 7, and two others that the gateway accepts: `localhost` and `windowsBroker`.
  public enum Kind: Hashable, Sendable {
    /// A private-use scheme (section 7.1).
    case privateUse(scheme: String)
    /// An https URI: a claimed one of an app (section 7.2), or one of a website.
    case https(host: String)
    /// An http URI with a loopback literal (section 7.3).
    case loopback(family: LoopbackFamily, port: Int?)
    /// An http URI with the name `localhost`, which section 8.3 does not recommend.
    case localhost(port: Int?)
    /// `msapp://SID` or `ms-app://SID`, the callback of the Windows Web Authentication Broker (appendix B.3).
    case windowsBroker
  }

  /// The URI exactly as written. This text is compared and sent.
  public let text: String
  /// The kind of the URI, with the parts that are needed to compare it with another URI.
  public let kind: Kind
  /// The offset in `text`, in bytes, at which the path begins, or the query if there is no path; the length of `text`
  /// if both are missing.
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
    // Search by bytes: it takes a twentieth of the time of a search by characters, and a policy has many URIs.
    guard let mark = rest.utf8.firstIndex(of: UInt8(ascii: "?")) else { return rest }
    return rest[..<mark]
  }

  /// The text after the first question mark; `nil` without one.
  public var query: Substring? {
    let rest = pathAndQuery
    guard let mark = rest.utf8.firstIndex(of: UInt8(ascii: "?")) else { return nil }
    return rest[rest.utf8.index(after: mark)...]
  }

  /// The URI without its query. The port of a loopback literal or of `localhost` is omitted, too, because apps choose
  /// it at run time.
  public var address: String {
    switch kind {
    case .loopback(.ipv4, _): address(at: "http://127.0.0.1")
    case .loopback(.ipv6, _): address(at: "http://[::1]")
    case .localhost: address(at: "http://localhost")
    // Few URIs have a query, and a search by characters takes as long as parsing the URI.
    case .privateUse, .https, .windowsBroker:
      text.utf8.span.contains(UInt8(ascii: "?")) ? String(text.prefix { $0 != "?" }) : text
    }
  }

  /// Returns the path after another scheme and authority.
  private func address(at origin: String) -> String {
    let bytes = text.utf8.span
    let pathEnd = bytes.firstIndex(of: UInt8(ascii: "?"), from: pathStart) ?? bytes.count
    var address: [UInt8] = []
    address.append(addingCapacity: origin.utf8.count + pathEnd - pathStart) { output in
      output.append(origin)
      output.append(copying: bytes.extracting(pathStart..<pathEnd))
    }
    return String(decoding: address, as: UTF8.self)
  }

  /// The scheme of a private-use URI; `nil` for the other kinds.
  public var privateUseScheme: String? {
    guard case .privateUse(let scheme) = kind else { return nil }
    return scheme
  }

  /// True if a private-use URI has two slashes after its scheme. The text after them is then read as a host (RFC 8252,
  /// section 7.1).
  public var hasPrivateUseAuthority: Bool {
    guard let scheme = privateUseScheme else { return false }
    return text.utf8.dropFirst(scheme.utf8.count).starts(with: "://".utf8)
  }
}

// MARK: Matching

extension RedirectURI {
  /// The permitted differences between a requested URI and a registered one. With the empty set, both must be equal.
  public struct AllowedVariance: OptionSet, Sendable {
    /// A bit for each permitted difference.
    public let rawValue: UInt8

    /// Creates a set from its bits.
    public init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    /// The port of a loopback literal may differ. For native apps (RFC 8252, section 7.3).
    public static let loopbackPort = AllowedVariance(rawValue: 1)
    /// The port of `localhost` may differ. For native apps, if the policy permits it.
    public static let localhostPort = AllowedVariance(rawValue: 2)
    /// The port of `localhost` may differ if the registered URI has none. For clients that register themselves.
    public static let omittedLocalhostPort = AllowedVariance(rawValue: 8)
    /// The path of a loopback URI may differ, as in draft-ietf-oauth-native-apps-03. RFC 8252, section 8.4 forbids
    /// this. Only tests use it, for the test vectors of the draft.
    static let loopbackPath = AllowedVariance(rawValue: 4)
  }

  /// True if this requested URI equals the registered one byte for byte (RFC 3986, section 6.2.1), except for the
  /// differences in `variance`.
  public func matches(registered: RedirectURI, variance: AllowedVariance) -> Bool {
    if text == registered.text { return true }
    switch (kind, registered.kind) {
    case (.loopback(let family, _), .loopback(let other, _)):
      guard variance.contains(.loopbackPort), family == other else { return false }
      return variance.contains(.loopbackPath) || hasSamePathAndQuery(as: registered)
    case (.localhost, .localhost(let port)):
      let isFree = variance.contains(.localhostPort) || port == nil && variance.contains(.omittedLocalhostPort)
      return isFree && hasSamePathAndQuery(as: registered)
    default:
      return false
    }
  }

  private func hasSamePathAndQuery(as other: RedirectURI) -> Bool {
    text.utf8.span.extracting(pathStart...).isEqual(to: other.text.utf8.span.extracting(other.pathStart...))
  }

  /// Returns the offset in bytes at which this requested URI first differs from a registered one; `nil` if they do not
  /// differ. The port of a loopback literal or of `localhost` is ignored, because apps choose it at run time (RFC 8252,
  /// section 7.3).
  public func difference(from registered: RedirectURI) -> Int? {
    switch (kind, registered.kind) {
    case (.loopback(let family, _), .loopback(let other, _)) where family == other: break
    case (.localhost, .localhost): break
    default: return RedirectURI.firstDifference(text, registered.text)
    }
    return RedirectURI.firstDifference(pathAndQuery, registered.pathAndQuery).map { pathStart + $0 }
  }

  /// True for an http URI whose host is the name `localhost`.
  public var isLocalhost: Bool {
    if case .localhost = kind { return true }
    return false
  }

  /// Returns the offset in bytes at which two texts first differ; `nil` if they are equal.
  public static func firstDifference(_ a: some StringProtocol, _ b: some StringProtocol) -> Int? {
    var offset = 0
    var left = a.utf8.makeIterator()
    var right = b.utf8.makeIterator()
    while true {
      let pair = (left.next(), right.next())
      if pair.0 != pair.1 { return offset }
      if pair.0 == nil { return nil }
      offset += 1
    }
  }

  /// Returns the redirect URI of a request that omits `redirect_uri`: the only registered URI (RFC 6749, section
  /// 3.1.2.3). `nil` if none or several are registered, or if the host of the only one is a loopback literal or
  /// `localhost`: the app chooses the port of such a URI at run time (RFC 8252, section 7.3).
  public static func defaultURI(registered: [RedirectURI]) -> RedirectURI? {
    guard registered.count == 1, let only = registered.first else { return nil }
    switch only.kind {
    case .loopback, .localhost: return nil
    case .privateUse, .https, .windowsBroker: return only
    }
  }
}
