/// What a sealed authorization code carries: the upstream's code and all that its redemption is checked against.
public struct IssuedCode: Sendable {
  /// The transaction that issued it; a code is redeemed at most once per transaction.
  public var transactionID: TransactionID
  public var clientID: ClientID
  public var redirectURI: RedirectURI
  /// True if the authorization request had `redirect_uri` (RFC 6749, section 4.1.3).
  public var redirectURIWasSent: Bool
  public var challenge: CodeChallenge?
  public var scope: Scope?
  public var upstreamCode: Secret
  public var upstreamClientID: ClientID
  public var upstreamRedirectURI: String
  /// The verifier that redeems the upstream's code; `nil` where the upstream does not understand PKCE.
  public var upstreamVerifier: UpstreamVerifier?
  /// Seconds since 1970.
  public var expiry: Int64

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
