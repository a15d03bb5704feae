public import OAuth
public import Policy

/// The client and the resource of an access token that the upstream issues.
public struct AccessTokenTarget: Sendable {
  /// The client that receives the token.
  public let client: ClientID
  /// The resource; `nil` for a token without a resource.
  public let resource: Resource?
  /// The scope of the request or of the grant; `nil` if it has none. The response of the upstream may contain another
  /// one.
  public let scope: Scope?
  /// The login; `nil` for a token of the client itself (RFC 6749, section 4.4).
  public let family: TransactionID?
  /// The metadata of the client, if its id is the URL of a metadata document; `nil` for every other client.
  public let document: ClientMetadata?

  /// Creates a target.
  public init(
    client: ClientID, resource: Resource?, scope: Scope?, family: TransactionID?, document: ClientMetadata? = nil
  ) {
    self.client = client
    self.resource = resource
    self.scope = scope
    self.family = family
    self.document = document
  }
}
