/// What real legacy servers do beside RFC 6749, each seen in the wild. All off by default.
public struct LegacyQuirks: Sendable {
  /// How the token endpoint writes its answers.
  public enum TokenFormat: Sendable {
    case json
    case form
  }

  /// Answers a `code_challenge` with `error=invalid_request` and forgets `state`; refuses a `code_verifier` too.
  public var strictParameters = false
  /// Binds a code to the challenge of its request and compares the verifier (RFC 7636).
  public var verifiesPKCE = false
  /// Shows authorization errors and denials as pages with status 200, so that the client never hears back.
  public var errorsAsPages = false
  /// Redirects errors even to redirect URIs that nobody registered.
  public var redirectsErrorsAnywhere = false
  /// Does not ask again for a client that the user approved once.
  public var remembersConsent = false
  /// Bytes of `state` that it survives; more is an internal error. `nil`: any.
  public var stateLimit: Int?
  public var tokenFormat = TokenFormat.json
  /// Sends token errors with status 200.
  public var tokenErrorsAre200 = false
  /// The member that holds a token error, e.g. `error_message`.
  public var tokenErrorName = "error"
  /// The error code for a bad code, e.g. `invalid_code`.
  public var badCodeError = "invalid_grant"
  /// Status of token errors.
  public var tokenErrorStatus = 400
  /// Hands tokens over on GET too.
  public var tokensOverGET = false
  /// Writes scopes with commas.
  public var commaSeparatedScopes = false
  /// Makes `Location` absolute from the `Host` field.
  public var absoluteRedirects = false
  /// Gives a new refresh token on each use and kills the old one.
  public var rotatesRefreshTokens = false

  public init() {}

  /// Everything as RFC 6749 has it, but for the change in `adjust`.
  public static func with(_ adjust: (inout LegacyQuirks) -> Void) -> LegacyQuirks {
    var quirks = LegacyQuirks()
    adjust(&quirks)
    return quirks
  }
}
