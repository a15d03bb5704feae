/// A set of parameters.
public struct ParameterNames: OptionSet, Sendable {
  /// A bit for each name.
  public let rawValue: UInt64

  public init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  public init(_ names: ParameterName...) {
    rawValue = names.reduce(0) { $0 | 1 << UInt64($1.rawValue) }
  }

  /// True if the name is among them; a parameter that means nothing anywhere, `nil`, never is.
  public func contains(_ name: ParameterName?) -> Bool {
    guard let name else { return false }
    return rawValue & 1 << UInt64(name.rawValue) != 0
  }

  /// All of them, in the order of their text.
  public var sorted: [ParameterName] {
    ParameterName.allCases.filter { contains($0) }.sorted { $0.text < $1.text }
  }
}

extension ParameterNames {
  /// The authorization request of RFC 6749, section 4.1.1.
  public static let authorization = ParameterNames(.responseType, .clientID, .redirectURI, .scope, .state)
  /// RFC 7636, section 4.3.
  public static let pkce = ParameterNames(.codeChallenge, .codeChallengeMethod)
  /// OpenID Connect Core, sections 3.1.2.1 and 5.5, which go upstream as they are.
  public static let openIDConnect = ParameterNames(
    .nonce, .display, .prompt, .maxAge, .uiLocales, .claimsLocales, .idTokenHint, .loginHint, .acrValues, .claims)
  /// What could replace the checked values behind the gateway's back (RFC 9101; OpenID Connect Core, sections 6 and 7).
  public static let requestObjects = ParameterNames(.request, .requestURI, .registration)
  /// The one parameter that may repeat (RFC 8707, section 2).
  public static let repeatable = ParameterNames(.resource)

  /// All that are read at the authorization endpoint.
  public static let atAuthorization: ParameterNames = [
    authorization, pkce, openIDConnect, requestObjects, repeatable,
    ParameterNames(.responseMode, .authorizationDetails),
  ]

  /// All that are read at the token endpoint.
  public static let atToken = ParameterNames(
    .grantType, .code, .redirectURI, .clientID, .clientSecret, .codeVerifier, .refreshToken, .scope, .deviceCode,
    .username, .password, .clientAssertion, .clientAssertionType, .assertion, .resource)

  /// All that are read where authorization requests are pushed (RFC 9126, section 2.1).
  public static let atPushed: ParameterNames = [atAuthorization, clientAuthentication]

  /// How a client proves itself in a body (RFC 6749, section 2.3.1; RFC 7521, section 4.2).
  public static let clientAuthentication = ParameterNames(.clientSecret, .clientAssertion, .clientAssertionType)

  /// What an authorization response says (RFC 6749, section 4.1.2; RFC 9207; OpenID Connect Session Management).
  public static let inResponse = ParameterNames(
    .code, .state, .issuer, .error, .errorDescription, .errorURI, .errorMessage, .sessionState, .scope)
}
