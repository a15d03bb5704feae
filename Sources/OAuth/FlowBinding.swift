/// The values that a transaction and its code have in common: those of the client's authorization request, and those of
/// the gateway's request to the upstream.
public struct FlowBinding: Sendable, Equatable {
  /// The client and the scope, which a refresh token has as well.
  public var client: ClientBinding
  /// The redirect URI that receives the response: the requested one, including a loopback port, or the only registered
  /// one if the request omitted it.
  public var redirectURI: RedirectURI
  /// True if the request contained `redirect_uri`. The token request must then repeat it (RFC 6749, section 4.1.3),
  /// except under the OAuth 2.1 profile if the client sent a code challenge.
  public var redirectURIWasSent: Bool
  /// The code challenge of the client; `nil` if the client sent none.
  public var challenge: CodeChallenge?
  /// The redirect URI in the gateway's requests to the upstream.
  public var upstreamRedirectURI: String
  /// The verifier for the challenge that the gateway sent upstream; `nil` if it sent none, because the upstream does
  /// not support PKCE.
  public var upstreamVerifier: UpstreamVerifier?

  /// Creates a binding from its parts.
  public init(
    clientID: ClientID, redirectURI: RedirectURI, redirectURIWasSent: Bool, challenge: CodeChallenge?, scope: Scope?,
    upstreamClientID: ClientID, upstreamRedirectURI: String, upstreamVerifier: UpstreamVerifier? = nil
  ) {
    client = ClientBinding(clientID: clientID, scope: scope, upstreamClientID: upstreamClientID)
    self.redirectURI = redirectURI
    self.redirectURIWasSent = redirectURIWasSent
    self.challenge = challenge
    self.upstreamRedirectURI = upstreamRedirectURI
    self.upstreamVerifier = upstreamVerifier
  }
}
