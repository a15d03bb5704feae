/// The parameters that mean something at an endpoint.
public enum ParameterNames {
  /// The authorization request of RFC 6749, section 4.1.1.
  public static let authorization: Set<String> = ["response_type", "client_id", "redirect_uri", "scope", "state"]
  /// RFC 7636, section 4.3.
  public static let pkce: Set<String> = ["code_challenge", "code_challenge_method"]
  /// OpenID Connect Core, sections 3.1.2.1 and 5.5, which go upstream as they are.
  public static let openIDConnect: Set<String> = [
    "nonce", "display", "prompt", "max_age", "ui_locales", "claims_locales", "id_token_hint", "login_hint",
    "acr_values",
    "claims",
  ]
  /// What could replace the checked values behind the gateway's back (RFC 9101; OpenID Connect Core, sections 6 and 7).
  public static let requestObjects: Set<String> = ["request", "request_uri", "registration"]
  /// The one parameter that may repeat (RFC 8707, section 2).
  public static let repeatable: Set<String> = ["resource"]

  /// All that are read at the authorization endpoint.
  public static let atAuthorization: Set<String> =
    authorization.union(pkce).union(openIDConnect).union(requestObjects).union(repeatable)
    .union(["response_mode", "authorization_details"])

  /// All that are read at the token endpoint.
  public static let atToken: Set<String> = [
    "grant_type", "code", "redirect_uri", "client_id", "client_secret", "code_verifier", "refresh_token", "scope",
    "device_code", "username", "password", "client_assertion", "client_assertion_type", "assertion", "resource",
  ]

  /// All that are read where authorization requests are pushed (RFC 9126, section 2.1).
  public static let atPushed: Set<String> = atAuthorization.union(clientAuthentication)

  /// How a client proves itself in a body (RFC 6749, section 2.3.1; RFC 7521, section 4.2).
  public static let clientAuthentication: Set<String> = [
    "client_secret", "client_assertion", "client_assertion_type",
  ]

  /// What an authorization response says (RFC 6749, section 4.1.2; RFC 9207; OpenID Connect Session Management).
  public static let inResponse: Set<String> = [
    "code", "state", "iss", "error", "error_description", "error_uri", "error_message", "session_state", "scope",
  ]
}
