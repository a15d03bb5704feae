/// A set of known parameters.
public struct ParameterNames: OptionSet, Sendable {
  /// A bit for each parameter.
  public let rawValue: UInt64

  /// Creates a set from its bits.
  public init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  /// Creates a set of the given parameters.
  public init(_ names: ParameterName...) {
    rawValue = names.reduce(0) { $0 | 1 << UInt64($1.rawValue) }
  }

  /// True if the set contains the parameter; false for `nil`, which means an unknown name.
  public func contains(_ name: ParameterName?) -> Bool {
    guard let name else { return false }
    return rawValue & 1 << UInt64(name.rawValue) != 0
  }

  /// All members, sorted by their names.
  public var sorted: [ParameterName] {
    ParameterName.allCases.filter { contains($0) }.sorted { $0.text < $1.text }
  }
}

extension ParameterNames {
  /// The parameters of the authorization request in RFC 6749, section 4.1.1.
  public static let authorization = ParameterNames(.responseType, .clientID, .redirectURI, .scope, .state)
  /// The parameters of RFC 7636, section 4.3.
  public static let pkce = ParameterNames(.codeChallenge, .codeChallengeMethod)
  /// The parameters of OpenID Connect Core, sections 3.1.2.1 and 5.5. They are forwarded unchanged, except for `claims`
  /// of some clients.
  public static let openIDConnect = ParameterNames(
    .nonce, .display, .prompt, .maxAge, .uiLocales, .claimsLocales, .idTokenHint, .loginHint, .acrValues, .claims)
  /// The parameters with which other values could replace those that the gateway has checked (RFC 9101; OpenID Connect
  /// Core, sections 6 and 7).
  public static let requestObjects = ParameterNames(.request, .requestURI, .registration)
  /// The only parameter that may occur more than once (RFC 8707, section 2).
  public static let repeatable = ParameterNames(.resource)

  /// All parameters that are defined for the authorization endpoint.
  public static let atAuthorization: ParameterNames = [
    authorization, pkce, openIDConnect, requestObjects, repeatable,
    ParameterNames(.responseMode, .authorizationDetails),
  ]

  /// The parameters that are defined for the token endpoint, except `authorization_details` (RFC 9396).
  public static let atToken = ParameterNames(
    .grantType, .code, .redirectURI, .clientID, .clientSecret, .codeVerifier, .refreshToken, .scope, .deviceCode,
    .username, .password, .clientAssertion, .clientAssertionType, .assertion, .resource)

  /// All parameters that are defined for the endpoint for pushed authorization requests (RFC 9126, section 2.1).
  public static let atPushed: ParameterNames = [atAuthorization, clientAuthentication]

  /// The parameters in a body with which a client authenticates (RFC 6749, section 2.3.1; RFC 7521, section 4.2).
  public static let clientAuthentication = ParameterNames(.clientSecret, .clientAssertion, .clientAssertionType)

  /// The parameters of an authorization response (RFC 6749, sections 4.1.2 and 4.1.2.1; RFC 9207; OpenID Connect
  /// Session Management). Some servers add `scope` and `error_message`.
  public static let inResponse = ParameterNames(
    .code, .state, .issuer, .error, .errorDescription, .errorURI, .errorMessage, .sessionState, .scope)
}
