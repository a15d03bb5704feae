internal import ByteText

/// A known parameter: one that is defined for an endpoint or for a response. Other parameters are only kept as text.
///
/// Names are recognised once, when a request is parsed, so that decisions need not compare or hash the text of a known
/// name. The raw value is the index of the bit in `ParameterNames`.
public enum ParameterName: UInt8, CaseIterable, Sendable {
  // RFC 6749.
  case responseType
  case clientID
  case redirectURI
  case scope
  case state
  case grantType
  case code
  case clientSecret
  case refreshToken
  case username
  case password
  case error
  case errorDescription
  case errorURI
  // RFC 7636.
  case codeChallenge
  case codeChallengeMethod
  case codeVerifier
  // RFC 7009.
  case token
  case tokenTypeHint
  // RFC 7521.
  case assertion
  case clientAssertion
  case clientAssertionType
  // RFC 8628.
  case deviceCode
  // RFC 8693, section 2.1. Some servers also read it at the authorization endpoint.
  case audience
  // RFC 8707.
  case resource
  // RFC 9101, and OpenID Connect Core, sections 6 and 7.
  case request
  case requestURI
  case registration
  // RFC 9207.
  case issuer
  // RFC 9396.
  case authorizationDetails
  // OAuth 2.0 Multiple Response Type Encoding Practices.
  case responseMode
  // OpenID Connect Core, sections 3.1.2.1, 5.2 and 5.5.
  case nonce
  case display
  case prompt
  case maxAge
  case uiLocales
  case claimsLocales
  case idTokenHint
  case loginHint
  case acrValues
  case claims
  // OpenID Connect Session Management.
  case sessionState
  /// The parameter that some legacy servers send instead of `error_description`.
  case errorMessage

  /// The name as sent. Names are case-sensitive.
  public var text: String {
    switch self {
    case .responseType: "response_type"
    case .clientID: "client_id"
    case .redirectURI: "redirect_uri"
    case .scope: "scope"
    case .state: "state"
    case .grantType: "grant_type"
    case .code: "code"
    case .clientSecret: "client_secret"
    case .refreshToken: "refresh_token"
    case .username: "username"
    case .password: "password"
    case .error: "error"
    case .errorDescription: "error_description"
    case .errorURI: "error_uri"
    case .codeChallenge: "code_challenge"
    case .codeChallengeMethod: "code_challenge_method"
    case .codeVerifier: "code_verifier"
    case .token: "token"
    case .tokenTypeHint: "token_type_hint"
    case .assertion: "assertion"
    case .clientAssertion: "client_assertion"
    case .clientAssertionType: "client_assertion_type"
    case .deviceCode: "device_code"
    case .audience: "audience"
    case .resource: "resource"
    case .request: "request"
    case .requestURI: "request_uri"
    case .registration: "registration"
    case .issuer: "iss"
    case .authorizationDetails: "authorization_details"
    case .responseMode: "response_mode"
    case .nonce: "nonce"
    case .display: "display"
    case .prompt: "prompt"
    case .maxAge: "max_age"
    case .uiLocales: "ui_locales"
    case .claimsLocales: "claims_locales"
    case .idTokenHint: "id_token_hint"
    case .loginHint: "login_hint"
    case .acrValues: "acr_values"
    case .claims: "claims"
    case .sessionState: "session_state"
    case .errorMessage: "error_message"
    }
  }

  /// Creates the parameter with this name; `nil` if the name is not a known one.
  public init?(_ text: String) { self.init(text.utf8.span) }

  /// Creates the parameter with this name, which is given as bytes; `nil` if the name is not a known one.
  init?(_ bytes: Span<UInt8>) {
    let byLength = ParameterName.byLength.span
    guard bytes.count < byLength.count else { return nil }
    let candidates = byLength[bytes.count].span
    for index in candidates.indices where candidates[index].bytes.span.isEqual(to: bytes) {
      self = candidates[index].name
      return
    }
    return nil
  }

  /// The known names by length: the list at each index contains the names with that number of bytes.
  private static let byLength: [[(name: ParameterName, bytes: [UInt8])]] = {
    let names = allCases.map { (name: $0, bytes: Array($0.text.utf8)) }
    let longest = names.map(\.bytes.count).max() ?? 0
    return (0...longest).map { length in names.filter { $0.bytes.count == length } }
  }()
}

/// A set of known parameters.
public struct ParameterNames: OptionSet, Sendable {
  /// A bit for each parameter.
  public let rawValue: UInt64

  /// Creates a set from its bits.
  public init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  /// Creates a set of one parameter.
  public init(_ name: ParameterName) {
    rawValue = 1 << UInt64(name.rawValue)
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
  /// The parameters of OpenID Connect Core, sections 3.1.2.1 and 5.5. They are forwarded unchanged, with one exception:
  /// `claims` is dropped if the gateway shows its consent page and the identity of the client is not proven.
  public static let openIDConnect = ParameterNames(
    .nonce, .display, .prompt, .maxAge, .uiLocales, .claimsLocales, .idTokenHint, .loginHint, .acrValues, .claims)
  /// The parameters whose content could replace values that the gateway has checked (RFC 9101; OpenID Connect Core,
  /// sections 6 and 7).
  public static let requestObjects = ParameterNames(.request, .requestURI, .registration)
  /// The only parameter that may occur more than once (RFC 8707, section 2).
  public static let repeatable = ParameterNames(.resource)

  /// All parameters that are defined for the authorization endpoint.
  public static let atAuthorization: ParameterNames = [
    authorization, pkce, openIDConnect, requestObjects, repeatable,
    ParameterNames(.responseMode, .authorizationDetails),
  ]

  /// The parameters that a page of the upstream could change: those of the authorization endpoint, and `audience`.
  public static let atReentry: ParameterNames = [atAuthorization, ParameterNames(.audience)]

  /// The parameters of an authorization request whose values the gateway checks or seals. A cookie with one of these
  /// names does not reach the authorization endpoint.
  public static let checkedAtAuthorization: ParameterNames =
    atReentry.subtracting(openIDConnect).union(ParameterNames(.claims))

  /// The parameters that are defined for the token endpoint, except `authorization_details` (RFC 9396). It is not in
  /// this set, so that the gateway forwards it if `upstream.parameters` lists it.
  public static let atToken = ParameterNames(
    .grantType, .code, .redirectURI, .clientID, .clientSecret, .codeVerifier, .refreshToken, .scope, .deviceCode,
    .username, .password, .clientAssertion, .clientAssertionType, .assertion, .resource)

  /// All parameters that are defined for the endpoint for pushed authorization requests (RFC 9126, section 2.1).
  public static let atPushed: ParameterNames = [atAuthorization, clientAuthentication]

  /// The parameters that are defined for the gateway's own introspection endpoint (RFC 7662, section 2.1).
  public static let atIntrospection: ParameterNames = [
    ParameterNames(.token, .tokenTypeHint, .clientID), clientAuthentication,
  ]

  /// All parameters that are defined for the device authorization endpoint (RFC 8628, section 3.1).
  public static let atDeviceAuthorization: ParameterNames = [
    ParameterNames(.clientID, .scope, .resource), clientAuthentication,
  ]

  /// The parameters in a body with which a client authenticates (RFC 6749, section 2.3.1; RFC 7521, section 4.2).
  public static let clientAuthentication = ParameterNames(.clientSecret, .clientAssertion, .clientAssertionType)

  /// The parameters of an authorization response (RFC 6749, sections 4.1.2 and 4.1.2.1; RFC 9207; OpenID Connect
  /// Session Management). Some servers add `scope` and `error_message`.
  public static let inResponse = ParameterNames(
    .code, .state, .issuer, .error, .errorDescription, .errorURI, .errorMessage, .sessionState, .scope)
}
