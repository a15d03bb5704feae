/// The reason why a private-use scheme is not accepted for registration (RFC 8252, sections 7.1 and 8.4).
public enum SchemeProblem: Hashable, Sendable, CaseIterable, CustomStringConvertible {
  case noPeriod
  case emptyLabel
  case labelSyntax
  case notReversedDomain

  /// The problem and its remedy, as one lower-case line.
  public var description: String {
    switch self {
    case .noPeriod:
      "the scheme has no period (RFC 8252, section 8.4): reverse a domain name of yours, e.g. `com.example.app`"
    case .emptyLabel: "the scheme has two periods in a row or one at its end: reverse a domain name of yours"
    case .labelSyntax:
      "a part of the scheme begins or ends with a hyphen or has a `+`: reverse a domain name of yours"
    case .notReversedDomain:
      "the scheme does not begin with a top-level domain (RFC 8252, section 7.1): reverse a domain name of yours, "
        + "or set `schemes: minimum`"
    }
  }
}

/// A weakness of a private-use redirect URI. The URI is accepted, but the check of the policy reports the weakness.
public enum SchemeNote: Hashable, Sendable, CaseIterable, CustomStringConvertible {
  case rootPath
  case tooLongForWindows
  case authority

  /// The weakness and its remedy, as one lower-case line.
  public var description: String {
    switch self {
    case .rootPath:
      "the path is only `/`: use a different path per server to tell responses apart (RFC 8252, section 8.10)"
    case .tooLongForWindows: "the scheme is longer than the 39 characters that Windows apps can register"
    case .authority: "two slashes make the next part a host: the form is `scheme:/path` (RFC 8252, section 7.1)"
    }
  }
}

extension RedirectURI {
  /// The required form of a private-use scheme.
  public enum SchemeProfile: Sendable {
    /// The scheme contains at least one period, which is the minimum that RFC 8252, section 8.4, recommends to check.
    case minimum
    /// The scheme is a reversed domain name: its first label is a top-level domain.
    case strict
  }

  /// Returns the problem with the private-use scheme of this URI; `nil` if there is none, and for other kinds of URI.
  public func schemeProblem(_ profile: SchemeProfile) -> SchemeProblem? {
    guard let scheme = privateUseScheme else { return nil }
    let labels = scheme.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard labels.count > 1 else { return .noPeriod }
    guard profile == .strict else { return nil }
    guard labels.allSatisfy({ !$0.isEmpty }) else { return .emptyLabel }
    let isWellFormed = labels.allSatisfy { label in
      label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-") && !label.contains(UInt8(ascii: "+"))
    }
    guard isWellFormed else { return .labelSyntax }
    guard let first = labels.first, TopLevelDomain.isDelegated(first) else { return .notReversedDomain }
    return nil
  }

  /// The weaknesses of the private-use scheme and the path of this URI; empty for other kinds of URI.
  public var schemeNotes: [SchemeNote] {
    guard let scheme = privateUseScheme else { return [] }
    var notes: [SchemeNote] = []
    if hasPrivateUseAuthority { notes.append(.authority) }
    if path == "/", !hasPrivateUseAuthority { notes.append(.rootPath) }
    if scheme.utf8.count > 39 { notes.append(.tooLongForWindows) }
    return notes
  }

  /// The domain that a private-use scheme claims, such as `example.com` for `com.example.app`; `nil` if the scheme has
  /// no period, and for other kinds of URI. Operators should check its owner regularly, because the registration of a
  /// domain can expire.
  public var claimedDomain: String? {
    guard let labels = privateUseScheme?.split(separator: "."), labels.count > 1 else { return nil }
    return "\(labels[1]).\(labels[0])"
  }
}
