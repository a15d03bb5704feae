/// The values that a transaction, its code and its refresh tokens have in common: the client id at the gateway, the
/// client id at the upstream, the scope and the resource.
public struct ClientBinding: Sendable, Equatable {
  /// The client that sent the authorization request, and to which the code and the tokens are issued.
  public var clientID: ClientID
  /// The scope in the authorization request. A refresh token instead contains the scope in the upstream's token
  /// response for the code, if that response had one. `nil` if no scope is known.
  public var scope: Scope?
  /// The client id in the gateway's requests to the upstream.
  public var upstreamClientID: ClientID
  /// The metadata in the document of the client, if its id is the URL of such a document, with the redirect URI of the
  /// request only. Later requests are decided with these metadata and need no fetch. `nil` for any other client.
  public var document: ClientMetadata?

  /// The identifier of the resource in the authorization request (RFC 8707); `nil` if the request named none.
  public var resource: String?

  /// Creates a binding from its parts.
  public init(
    clientID: ClientID, scope: Scope?, upstreamClientID: ClientID, resource: String? = nil,
    document: ClientMetadata? = nil
  ) {
    self.clientID = clientID
    self.scope = scope
    self.upstreamClientID = upstreamClientID
    self.resource = resource
    self.document = document
  }
}
