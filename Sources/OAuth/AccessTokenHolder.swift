/// A client that has received an access token, and a login for which it received the token.
public struct AccessTokenHolder: Sendable, Equatable {
  /// The client.
  public var clientID: ClientID
  /// The login for which the client received the token; `nil` for a token of the client itself (RFC 6749, section 4.4).
  public var family: TransactionID?
  /// The outline of the client's metadata, if its id is the URL of a metadata document: with it, the current policy
  /// decides whether the client is still permitted. `nil` for every other client.
  public var document: ClientMetadata?

  /// Creates a holder from its parts.
  public init(clientID: ClientID, family: TransactionID?, document: ClientMetadata? = nil) {
    self.clientID = clientID
    self.family = family
    self.document = document
  }

  /// Returns true if both have the same client with the same metadata.
  public func hasSameClient(as other: AccessTokenHolder) -> Bool {
    clientID == other.clientID && document == other.document
  }
}
