internal import ByteText

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

  /// Returns the offset in bytes at which this requested URI first differs from a registered one; `nil` if it does not.
  /// The port of a loopback literal or of `localhost` is ignored, because apps choose it at run time (RFC 8252, section
  /// 7.3).
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
}

extension RedirectURI {
  /// Returns the redirect URI of a request that omits `redirect_uri`: the only registered one (RFC 6749, section
  /// 3.1.2.3). `nil` if several are registered, or none, or if its port is not known because the app chooses it (RFC
  /// 8252, section 7.3).
  public static func onlyUsable(of registered: [RedirectURI]) -> RedirectURI? {
    guard registered.count == 1, let only = registered.first else { return nil }
    switch only.kind {
    case .loopback, .localhost: return nil
    case .privateUse, .https, .broker: return only
    }
  }
}
