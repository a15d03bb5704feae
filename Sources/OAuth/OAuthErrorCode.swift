/// The error codes that a client can receive (RFC 6749, sections 4.1.2.1 and 5.2, and extensions).
public enum OAuthErrorCode: String, Sendable, CaseIterable {
  case invalidRequest = "invalid_request"
  case invalidClient = "invalid_client"
  case invalidGrant = "invalid_grant"
  case unauthorizedClient = "unauthorized_client"
  case unsupportedGrantType = "unsupported_grant_type"
  case unsupportedResponseType = "unsupported_response_type"
  case accessDenied = "access_denied"
  case invalidScope = "invalid_scope"
  case serverError = "server_error"
  case temporarilyUnavailable = "temporarily_unavailable"
  /// RFC 8707, section 2.
  case invalidTarget = "invalid_target"
  /// This code and those up to `registrationNotSupported` are from OpenID Connect Core, section 3.1.2.6.
  case interactionRequired = "interaction_required"
  case loginRequired = "login_required"
  case accountSelectionRequired = "account_selection_required"
  case consentRequired = "consent_required"
  case invalidRequestURI = "invalid_request_uri"
  case invalidRequestObject = "invalid_request_object"
  case requestNotSupported = "request_not_supported"
  case requestURINotSupported = "request_uri_not_supported"
  case registrationNotSupported = "registration_not_supported"
  /// This code and the next two are from RFC 8628, section 3.5.
  case authorizationPending = "authorization_pending"
  case slowDown = "slow_down"
  case expiredToken = "expired_token"
  /// This code and the next one are from RFC 7591, section 3.2.2.
  case invalidRedirectURI = "invalid_redirect_uri"
  case invalidClientMetadata = "invalid_client_metadata"
  /// This code and the next one are from RFC 6750, section 3.1.
  case invalidToken = "invalid_token"
  case insufficientScope = "insufficient_scope"
  /// RFC 7009, section 2.2.1.
  case unsupportedTokenType = "unsupported_token_type"

  /// Creates the code for the error in an authorization response of the upstream. A known code is kept. A non-standard
  /// code for a denial by the user becomes `access_denied`, and any other text `server_error`.
  public init(upstreamAuthorizationError text: String) {
    switch OAuthErrorCode(rawValue: text) {
    // No codes of authorization responses.
    case .invalidToken, .insufficientScope, .unsupportedTokenType: self = .serverError
    case .some(let code): self = code
    case nil: self = OAuthErrorCode.nonStandardDenials.contains(text) ? .accessDenied : .serverError
    }
  }

  private static let nonStandardDenials: Set<String> = [
    "consent_denied", "permission_denied", "user_cancelled", "user_cancelled_authorize", "user_cancelled_login",
    "user_denied", "login_cancelled", "cancelled", "canceled",
  ]
}

/// The permitted content of `error_description` (RFC 6749, sections 4.1.2.1 and 5.2: %x20-21 / %x23-5B / %x5D-7E).
public enum ErrorDescription {
  /// The maximum length in characters (Unicode scalars). A longer text is not meant for a user.
  public static let maximumLength = 256

  /// Replaces every character that is not permitted with a question mark, and cuts the text after ``maximumLength``
  /// characters.
  public static func sanitised(_ text: some StringProtocol) -> String {
    String(
      decoding: text.unicodeScalars.prefix(maximumLength).map { scalar -> UInt8 in
        switch scalar.value {
        case 0x20, 0x21, 0x23...0x5b, 0x5d...0x7e: UInt8(truncatingIfNeeded: scalar.value)
        default: UInt8(ascii: "?")
        }
      }, as: UTF8.self)
  }
}
