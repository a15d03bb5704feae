/// Deviations from RFC 6749 that real legacy servers have, all off by default.
public struct LegacyQuirks: Sendable {
  /// The format of token endpoint responses.
  public enum TokenFormat: Sendable {
    case json
    case form
  }

  /// Answers a `code_challenge` with `error=invalid_request` and omits `state`; refuses a `code_verifier`, too.
  public var strictParameters = false
  /// Binds a code to the challenge of its request and compares the verifier (RFC 7636).
  public var verifiesPKCE = false
  /// Shows authorization errors and denials as pages with status 200, so that the client gets no response.
  public var errorsAsPages = false
  /// Redirects errors even to unregistered redirect URIs.
  public var redirectsErrorsAnywhere = false
  /// Does not ask again for a client that the user approved once.
  public var remembersConsent = false
  /// The longest `state` in bytes; a longer one is an internal error. `nil` for no limit.
  public var stateLimit: Int?
  /// The format of token endpoint responses.
  public var tokenFormat = TokenFormat.json
  /// Sends token errors with status 200.
  public var tokenErrorsAre200 = false
  /// The member that contains a token error, e.g. `error_message`.
  public var tokenErrorName = "error"
  /// The error code for a bad code, e.g. `invalid_code`.
  public var badCodeError = "invalid_grant"
  /// The HTTP status of token errors.
  public var tokenErrorStatus = 400
  /// Issues tokens for GET requests, too.
  public var tokensOverGET = false
  /// Writes scopes with commas.
  public var commaSeparatedScopes = false
  /// Makes `Location` absolute from the `Host` field.
  public var absoluteRedirects = false
  /// Issues a new refresh token on each use and deletes the old one.
  public var rotatesRefreshTokens = false

  /// Creates the behaviour of RFC 6749.
  public init() {}

  /// Returns the behaviour of RFC 6749 with the changes that `adjust` makes.
  public static func with(_ adjust: (inout LegacyQuirks) -> Void) -> LegacyQuirks {
    var quirks = LegacyQuirks()
    adjust(&quirks)
    return quirks
  }
}
