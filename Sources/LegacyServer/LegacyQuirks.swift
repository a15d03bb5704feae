/// Deviations from RFC 6749, and extensions, that real servers have. By default all are off.
public struct LegacyQuirks: Sendable {
  /// The format of token endpoint responses: a JSON object, or a form (`application/x-www-form-urlencoded`).
  public enum TokenFormat: Sendable {
    case json
    case form
  }

  /// Refuses authorization requests with a `code_challenge` and token requests with a `code_verifier`: the error is
  /// `invalid_request`, and the authorization error has no `state`.
  public var refusesPKCEParameters = false
  /// Supports PKCE: compares the verifier of a token request with the challenge of the authorization request (RFC
  /// 7636).
  public var verifiesPKCE = false
  /// Shows authorization errors, also a denial by the user, on pages with status 200. The client gets no response.
  public var errorsAsPages = false
  /// Redirects with an error even to an unregistered redirect URI. This is an open redirect (RFC 9700, section 4.11.2).
  public var redirectsErrorsAnywhere = false
  /// Does not ask the user again about a client that the user has approved.
  public var remembersConsent = false
  /// The maximum length of `state` in bytes; `nil` for no limit. A longer `state` causes an error page with status 500.
  public var stateLimit: Int?
  /// The format of token endpoint responses.
  public var tokenFormat = TokenFormat.json
  /// Sends all token errors with status 200.
  public var tokenErrorsAre200 = false
  /// The name of the member that contains the error code of a token error, e.g. `error_message`.
  public var tokenErrorName = "error"
  /// The error code for an invalid authorization code, e.g. `invalid_code`.
  public var badCodeError = "invalid_grant"
  /// The HTTP status of token errors other than `invalid_client`, whose status is 401.
  public var tokenErrorStatus = 400
  /// Also accepts GET requests at the token endpoint.
  public var tokensOverGET = false
  /// Separates the scope values in token responses by commas.
  public var commaSeparatedScopes = false
  /// Writes absolute URLs into redirects to pages of the legacy server itself, with the host of the request's `Host`
  /// field. If false, such a redirect contains only a path.
  public var absoluteRedirects = false
  /// Issues a new refresh token on each use and deletes the old one.
  public var rotatesRefreshTokens = false
  /// Calls `verification_uri` of the device authorization response `verification_url`, as in a draft of RFC 8628.
  public var sendsVerificationURL = false
  /// Issues tokens again for a device code that was redeemed before.
  public var acceptsDeviceCodesAgain = false

  /// Creates the default: no deviation.
  public init() {}

  /// Returns quirks with the deviations that `adjust` sets.
  public static func with(_ adjust: (inout LegacyQuirks) -> Void) -> LegacyQuirks {
    var quirks = LegacyQuirks()
    adjust(&quirks)
    return quirks
  }
}
