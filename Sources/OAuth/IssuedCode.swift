/// The content of a sealed authorization code: the upstream code, and everything with which its redemption is compared.
public struct IssuedCode: Sendable {
  /// The transaction for which the code was issued.
  public var transactionID: TransactionID
  /// The client to which the code was issued.
  public var clientID: ClientID
  /// The redirect URI to which the code was sent.
  public var redirectURI: RedirectURI
  /// True if the authorization request contained `redirect_uri`. The token request must then repeat it (RFC 6749,
  /// section 4.1.3), except under the OAuth 2.1 profile if the client sent a code challenge.
  public var redirectURIWasSent: Bool
  /// The code challenge of the client; `nil` if the client sent none.
  public var challenge: CodeChallenge?
  /// The requested scope; `nil` if the request omitted it.
  public var scope: Scope?
  /// The code that the upstream issued.
  public var upstreamCode: Secret
  /// The client id with which the gateway redeems the upstream code.
  public var upstreamClientID: ClientID
  /// The redirect URI in the gateway's token request to the upstream.
  public var upstreamRedirectURI: String
  /// The verifier in the gateway's token request; `nil` if the gateway sent no challenge, because the upstream does not
  /// support PKCE.
  public var upstreamVerifier: UpstreamVerifier?
  /// The time at which the code expires, in seconds since 1970.
  public var expiry: Int64

  /// Creates the content of a code from its parts.
  public init(
    transactionID: TransactionID, clientID: ClientID, redirectURI: RedirectURI, redirectURIWasSent: Bool,
    challenge: CodeChallenge?, scope: Scope?, upstreamCode: Secret, upstreamClientID: ClientID,
    upstreamRedirectURI: String, upstreamVerifier: UpstreamVerifier? = nil, expiry: Int64
  ) {
    self.transactionID = transactionID
    self.clientID = clientID
    self.redirectURI = redirectURI
    self.redirectURIWasSent = redirectURIWasSent
    self.challenge = challenge
    self.scope = scope
    self.upstreamCode = upstreamCode
    self.upstreamClientID = upstreamClientID
    self.upstreamRedirectURI = upstreamRedirectURI
    self.upstreamVerifier = upstreamVerifier
    self.expiry = expiry
  }
}
