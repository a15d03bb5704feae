/// The values that a transaction, its code and its refresh tokens have in common: the client id at the gateway, the
/// client id at the upstream, and the scope.
public struct ClientBinding: Sendable, Equatable {
  /// The client that sent the authorization request, and to which the code and the tokens are issued.
  public var clientID: ClientID
  /// The scope in the authorization request. A refresh token instead contains the scope in the upstream's token
  /// response for the code, if that response had one. `nil` if no scope is known.
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
