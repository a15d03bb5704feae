/// The reason why a text is not accepted as a redirect URI.
///
/// `description` says what is wrong and what to do. It is one lower-case line, for both a diagnostic of the policy and
/// the refusal of a request, and never contains the input.
public enum RedirectURIError: Error, Hashable, Sendable, CaseIterable {
  case empty
  case tooLong
  case nonASCII
  case controlCharacter
  case space
  case backslash
  case wildcard
  case forbiddenCharacter
  case malformedEscape
  case encodedControl
  case encodedSeparator
  case invalidUTF8
  case fragment
  case relative
  case schemeSyntax
  case schemeCase
  case schemeReserved
  case userinfo
  case incomplete
  case rootless
  case dotSegment
  case pathParameter
  case host
  case port
  case cleartext
  case authorityOfPrivateUse
  case windowsBroker
}

extension RedirectURIError: CustomStringConvertible {
  /// The problem and its remedy, as one lower-case line.
  public var description: String {
    switch self {
    case .empty: "the redirect URI is empty: write a complete URI"
    case .tooLong: "the redirect URI is longer than \(RedirectURI.maximumLength) bytes: shorten it"
    case .nonASCII: "the redirect URI has a character outside ASCII: percent-encode it"
    case .controlCharacter: "the redirect URI has a control character: remove it"
    case .space: "the redirect URI has a space: remove it, or write %20"
    case .backslash: "the redirect URI has a backslash, which no URI may have: write a slash"
    case .wildcard: "the redirect URI has a `*`: list every URI in full, there are no wildcards"
    case .forbiddenCharacter: "the redirect URI has a character that no URI may have: percent-encode it"
    case .malformedEscape: "a `%` is not followed by two hexadecimal digits: write %25 for a percent sign"
    case .encodedControl: "the redirect URI has a percent-encoded control character: remove it"
    case .encodedSeparator:
      "the path has a percent-encoded dot, slash, backslash, semicolon or percent sign: write the path plainly"
    case .invalidUTF8: "the percent-encoded bytes of the path are not UTF-8: encode the path again"
    case .fragment: "the redirect URI has a fragment (RFC 6749, section 3.1.2): remove the `#` and what follows"
    case .relative: "the redirect URI has no scheme: write an absolute URI such as `com.example.app:/callback`"
    case .schemeSyntax:
      "the scheme is malformed: a letter, then letters, digits, `+`, `-` or `.` (RFC 3986, section 3.1)"
    case .schemeCase: "the scheme has upper-case letters: write it in lower case (RFC 7595, section 3.8)"
    case .schemeReserved:
      "the scheme belongs to something else: use a reversed domain of yours, https, or http on a loopback literal"
    case .userinfo: "the redirect URI has an `@` before its host: remove the user information"
    case .incomplete: "the redirect URI ends before its path: write it in full (RFC 8252, section 8.4)"
    case .rootless: "the path does not begin with a slash: write `scheme:/path` (RFC 8252, section 7.1)"
    case .dotSegment: "the path has a `.` or `..` segment: write the path that it leads to"
    case .pathParameter: "the path has a `;`: servers disagree on what it means, so leave it out"
    case .host: "the host is malformed: write a DNS name without a trailing dot, or 127.0.0.1 or [::1]"
    case .port: "the port is malformed: 1 to 65535 without leading zeros, or no colon at all"
    case .cleartext:
      "http is accepted for 127.0.0.1, [::1] and localhost only (RFC 8252, section 8.3): use https"
    case .authorityOfPrivateUse:
      "a private-use scheme has no host and port: write `scheme:/path` (RFC 8252, section 7.1)"
    case .windowsBroker:
      "the broker's URI is malformed: write `msapp://` and the package's SID (RFC 8252, appendix B.3)"
    }
  }
}
