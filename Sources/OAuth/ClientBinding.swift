/// The values that a transaction, its code and its refresh tokens have in common: the client id at the gateway, the
/// client id at the upstream, and the scope.
public struct ClientBinding: Sendable, Equatable {
  /// The client that sent the authorization request, and to which the code and the tokens are issued.
  public var clientID: ClientID
  /// The requested scope. In a refresh token, it is the scope in the upstream's response to the redemption if that
  /// response contained one. `nil` if there was no scope in either.
  public var scope: Scope?
  /// The client id in the gateway's requests to the upstream.
  public var upstreamClientID: ClientID

  /// Creates a binding from its parts.
  public init(clientID: ClientID, scope: Scope?, upstreamClientID: ClientID) {
    self.clientID = clientID
    self.scope = scope
    self.upstreamClientID = upstreamClientID
  }
}
