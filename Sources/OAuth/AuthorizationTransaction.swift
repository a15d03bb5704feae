/// The content of the sealed state: everything that the gateway needs to complete an authorization request. The
/// upstream returns the sealed state unchanged.
public struct AuthorizationTransaction: Sendable, Equatable {
  /// The identifier of the transaction.
  public var id: TransactionID
  /// The client that sent the authorization request.
  public var clientID: ClientID
  /// The redirect URI that receives the response: the requested one, including a loopback port, or the only registered
  /// one if the request omitted it.
  public var redirectURI: RedirectURI
  /// True if the request contained `redirect_uri`. The token request must then repeat it (RFC 6749, section 4.1.3),
  /// except under the OAuth 2.1 profile if the client sent a code challenge.
  public var redirectURIWasSent: Bool
  /// The `state` of the client, decoded; `nil` if the client sent none.
  public var state: String?
  /// The code challenge of the client; `nil` if the client sent none.
  public var challenge: CodeChallenge?
  /// The mode in which the client receives the response.
  public var responseMode: ResponseMode
  /// The requested scope; `nil` if the request omitted it.
  public var scope: Scope?
  /// The client id in the gateway's request to the upstream.
  public var upstreamClientID: ClientID
  /// The redirect URI in the gateway's request to the upstream.
  public var upstreamRedirectURI: String
  /// The verifier for the challenge that the gateway sent upstream; `nil` if it sent none, because the upstream does
  /// not support PKCE.
  public var upstreamVerifier: UpstreamVerifier?
  /// The time at which the transaction expires, in seconds since 1970.
  public var expiry: Int64
  /// The SHA-256 digest of the secret in the browser's cookie, 32 bytes.
  public var browserSecretHash: [UInt8]

  /// Creates a transaction from its parts.
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
