internal import ByteText

/// A known parameter: one that is defined for an endpoint or for a response. Other parameters are only kept as text.
///
/// Names are recognised once, when a request is parsed, so that no decision compares or hashes a name again. The raw
/// value is the index of the bit in `ParameterNames`.
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

  /// The names by their length in bytes, from 0.
  private static let byLength: [[(name: ParameterName, bytes: [UInt8])]] = {
    let names = allCases.map { (name: $0, bytes: Array($0.text.utf8)) }
    let longest = names.map(\.bytes.count).max() ?? 0
    return (0...longest).map { length in names.filter { $0.bytes.count == length } }
  }()
}
