/// The values that a transaction, its code and its refresh tokens have in common: the client id at the gateway, the
/// client id at the upstream, the scope and the resource.
public struct ClientBinding: Sendable, Equatable {
  /// The client that sent the authorization request, and to which the code and the tokens are issued. In the binding of
  /// a sign-in (``FlowBinding``), an id that the gateway issued is in its short form.
  public var clientID: ClientID
  /// The scope in the authorization request. A refresh token instead contains the scope in the upstream's token
  /// response for the code, if that response had one. `nil` if no scope is known.
  public var scope: Scope?
  /// The client id in the gateway's requests to the upstream.
  public var upstreamClientID: ClientID
  /// The metadata in the document of the client, if its id is the URL of such a document, with the redirect URI of the
  /// request only. Later requests are decided with these metadata and need no fetch. `nil` for any other client.
  public var document: ClientMetadata?
  /// The outline of the client's registration, if the gateway issued the id and the sign-in is not completed yet. `nil`
  /// for any other client, and in a code or refresh token.
  public var registration: RegistrationOutline?

  /// The identifier of the resource in the authorization request (RFC 8707); `nil` if the request named none.
  public var resource: String?

  /// The id of the upstream's address that served the latest step of the sign-in, which later requests prefer; `nil` if
  /// the upstream has one address.
  public var upstreamAddress: UInt16?

  /// Creates a binding from its parts.
  public init(
    clientID: ClientID, scope: Scope?, upstreamClientID: ClientID, resource: String? = nil,
    document: ClientMetadata? = nil, registration: RegistrationOutline? = nil
  ) {
    self.clientID = clientID
    self.scope = scope
    self.upstreamClientID = upstreamClientID
    self.resource = resource
    self.document = document
    self.registration = registration
  }

  /// Returns the binding of tokens that the client with this id gets for a code: with the complete id.
  ///
  /// - Parameter id: The id in the token request, which the rules have compared with that of the code.
  public func issued(to id: ClientID) -> ClientBinding {
    var binding = self
    binding.clientID = id
    binding.registration = nil
    return binding
  }
}
