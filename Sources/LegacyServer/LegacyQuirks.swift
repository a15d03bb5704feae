/// Deviations from RFC 6749 and extensions that real servers have. By default there are none.
public struct LegacyQuirks: Sendable {
  /// The format of token endpoint responses.
  public enum TokenFormat: Sendable {
    case json
    case form
  }

  /// Refuses authorization requests with a `code_challenge` by `error=invalid_request` without `state`, and token
  /// requests with a `code_verifier`.
  public var strictParameters = false
  /// Supports PKCE: compares the verifier of a token request with the challenge of the authorization request (RFC
  /// 7636).
  public var verifiesPKCE = false
  /// Shows authorization errors and denials as pages with status 200, so that the client gets no response.
  public var errorsAsPages = false
  /// Sends the error about an unregistered redirect URI to that URI: an open redirect.
  public var redirectsErrorsAnywhere = false
  /// Does not ask the user again about a client that the user has approved.
  public var remembersConsent = false
  /// The maximum length of `state` in bytes. A longer one causes an error page with status 500. `nil` for no limit.
  public var stateLimit: Int?
  /// The format of token endpoint responses.
  public var tokenFormat = TokenFormat.json
  /// Sends all token errors with status 200.
  public var tokenErrorsAre200 = false
  /// The name of the member that contains the error code of a token error, e.g. `error_message`.
  public var tokenErrorName = "error"
  /// The error code for a bad code, e.g. `invalid_code`.
  public var badCodeError = "invalid_grant"
  /// The HTTP status of token errors other than `invalid_client`, which has 401.
  public var tokenErrorStatus = 400
  /// Accepts GET requests at the token endpoint.
  public var tokensOverGET = false
  /// Separates the scope values in token responses by commas.
  public var commaSeparatedScopes = false
  /// Sends absolute URLs with the host of the `Host` field in `Location` in place of paths.
  public var absoluteRedirects = false
  /// Issues a new refresh token on each use and deletes the old one.
  public var rotatesRefreshTokens = false

  /// Creates a set without deviations.
  public init() {}

  /// Returns the set with the deviations that `adjust` sets.
  public static func with(_ adjust: (inout LegacyQuirks) -> Void) -> LegacyQuirks {
    var quirks = LegacyQuirks()
    adjust(&quirks)
    return quirks
  }
}
