internal import Bytes

extension RedirectURI {
  /// In what a requested URI may differ from a registered one. Empty: in nothing.
  public struct AllowedVariance: OptionSet, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    /// The port of a loopback literal: for native clients (RFC 8252, section 7.3).
    public static let loopbackPort = AllowedVariance(rawValue: 1)
    /// The port of the name `localhost`: a setting, for native clients.
    public static let localhostPort = AllowedVariance(rawValue: 2)
    /// The path of a loopback URI, as draft-ietf-oauth-native-apps-03 had it. RFC 8252, section 8.4 forbids it, so no
    /// policy gives it; only tests compare with the draft.
    static let loopbackPath = AllowedVariance(rawValue: 4)
  }

  /// True if this requested URI is the registered one: the same bytes (RFC 3986, section 6.2.1), loopback ports aside.
  public func matches(registered: RedirectURI, variance: AllowedVariance) -> Bool {
    if text == registered.text { return true }
    switch (kind, registered.kind) {
    case (.loopback(let family, _), .loopback(let other, _)):
      guard variance.contains(.loopbackPort), family == other else { return false }
      return variance.contains(.loopbackPath) || hasPathAndQuery(of: registered)
    case (.localhost, .localhost):
      return variance.contains(.localhostPort) && hasPathAndQuery(of: registered)
    default:
      return false
    }
  }

  private func hasPathAndQuery(of other: RedirectURI) -> Bool {
    text.utf8.span.extracting(pathStart...).isEqual(to: other.text.utf8.span.extracting(other.pathStart...))
  }

  /// The offset of the first byte of this requested URI that differs from a registered one; a loopback port does not
  /// count, since it is chosen at request time (RFC 8252, section 7.3). `nil` when they are the same.
  public func difference(from registered: RedirectURI) -> Int? {
    switch (kind, registered.kind) {
    case (.loopback(let family, _), .loopback(let other, _)) where family == other: break
    case (.localhost, .localhost): break
    default: return RedirectURI.firstDifference(text, registered.text)
    }
    return RedirectURI.firstDifference(pathAndQuery, registered.pathAndQuery).map { pathStart + $0 }
  }

  /// True for http on the name `localhost`.
  public var isLocalhost: Bool {
    if case .localhost = kind { return true }
    return false
  }

  /// The offset in bytes of the first byte in which two texts differ; `nil` when they are the same.
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
}

extension RedirectURI {
  /// The URI that an omitted `redirect_uri` stands for: the only registered one (RFC 6749, section 3.1.2.3), unless it
  /// is one whose port only the app knows (RFC 8252, section 7.3).
  public static func onlyUsable(of registered: [RedirectURI]) -> RedirectURI? {
    guard registered.count == 1, let only = registered.first else { return nil }
    switch only.kind {
    case .loopback, .localhost: return nil
    case .privateUse, .https, .broker: return only
    }
  }
}
