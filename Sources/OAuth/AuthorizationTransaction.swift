/// What the sealed state carries through the upstream: all that completing an authorization request needs.
public struct AuthorizationTransaction: Sendable, Equatable {
  public var id: TransactionID
  public var clientID: ClientID
  /// Where the answer goes: what the client asked for, loopback port included, or the registered one that it omitted.
  public var redirectURI: RedirectURI
  /// True if the request had `redirect_uri`; the token request must then repeat it (RFC 6749, section 4.1.3).
  public var redirectURIWasSent: Bool
  /// The client's own state, decoded.
  public var state: String?
  public var challenge: CodeChallenge?
  public var responseMode: ResponseMode
  public var scope: Scope?
  /// Who the gateway was to the upstream in this request.
  public var upstreamClientID: ClientID
  /// The redirect URI that went upstream.
  public var upstreamRedirectURI: String
  /// The verifier for the challenge that went upstream; `nil` where the upstream does not understand PKCE.
  public var upstreamVerifier: UpstreamVerifier?
  /// Seconds since 1970.
  public var expiry: Int64
  /// SHA-256 of the browser secret, 32 bytes.
  public var browserSecretHash: [UInt8]

  public init(
    id: TransactionID, clientID: ClientID, redirectURI: RedirectURI, redirectURIWasSent: Bool, state: String?,
    challenge: CodeChallenge?, responseMode: ResponseMode, scope: Scope?, upstreamClientID: ClientID,
    upstreamRedirectURI: String, upstreamVerifier: UpstreamVerifier? = nil, expiry: Int64, browserSecretHash: [UInt8]
  ) {
    self.id = id
    self.clientID = clientID
    self.redirectURI = redirectURI
    self.redirectURIWasSent = redirectURIWasSent
    self.state = state
    self.challenge = challenge
    self.responseMode = responseMode
    self.scope = scope
    self.upstreamClientID = upstreamClientID
    self.upstreamRedirectURI = upstreamRedirectURI
    self.upstreamVerifier = upstreamVerifier
    self.expiry = expiry
    self.browserSecretHash = browserSecretHash
  }
}
