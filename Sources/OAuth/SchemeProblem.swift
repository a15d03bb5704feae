/// Why a private-use scheme is not accepted for registration (RFC 8252, sections 7.1 and 8.4).
public enum SchemeProblem: Hashable, Sendable, CaseIterable, CustomStringConvertible {
  case noPeriod
  case emptyLabel
  case labelSyntax
  case notReversedDomain

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

/// What is accepted and yet worth a note in a policy.
public enum SchemeNote: Hashable, Sendable, CaseIterable, CustomStringConvertible {
  case rootPath
  case tooLongForWindows
  case authority

  public var description: String {
    switch self {
    case .rootPath: "the path is only `/`: a path of its own per server tells answers apart (RFC 8252, section 8.10)"
    case .tooLongForWindows: "the scheme is longer than the 39 characters that Windows apps can register"
    case .authority: "two slashes make the next part a host: the form is `scheme:/path` (RFC 8252, section 7.1)"
    }
  }
}

extension RedirectURI {
  /// How much a private-use scheme must look like a reversed domain name.
  public enum SchemeProfile: Sendable {
    /// At least one period: what RFC 8252, section 8.4 asks servers to check.
    case minimum
    /// Domain labels, of which the first is a top-level domain.
    case strict
  }

  /// The problem with this URI's private-use scheme; `nil` when there is none, and for the other kinds.
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

  /// What is worth a note about this URI's private-use scheme and path.
  public var schemeNotes: [SchemeNote] {
    guard let scheme = privateUseScheme else { return [] }
    var notes: [SchemeNote] = []
    if hasPrivateUseAuthority { notes.append(.authority) }
    if path == "/", !hasPrivateUseAuthority { notes.append(.rootPath) }
    if scheme.utf8.count > 39 { notes.append(.tooLongForWindows) }
    return notes
  }

  /// The domain that a private-use scheme claims, e.g. `example.com` for `com.example.app`; operators recheck who owns
  /// it, for domains lapse.
  public var claimedDomain: String? {
    guard let labels = privateUseScheme?.split(separator: "."), labels.count > 1 else { return nil }
    return "\(labels[1]).\(labels[0])"
  }
}
