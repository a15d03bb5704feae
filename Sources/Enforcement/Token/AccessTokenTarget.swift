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

  /// The scope that the response to the client names if the upstream's response names none; `nil` if it needs none: the
  /// client gets what it requested (RFC 6749, section 5.1). Not for a refresh (``RefreshPermit/scopeForResponse``).
  public let scopeForResponse: Scope?

  /// The maximum scope of the token for a client that the policy does not list; `nil` for a listed client.
  private let maximumScope: Scope?

  /// Creates a target.
  ///
  /// - Parameter login: The scope of the login, as the client requested it; `nil` if it has none.
  public init(
    client: Client, resource: Resource?, scope: Scope?, login: Scope?, family: TransactionID?,
    document: ClientMetadata? = nil, policy: Policy
  ) {
    self.client = client.id
    self.resource = resource
    self.scope = scope
    self.family = family
    self.document = document
    let sent = UpstreamScope(login, client: client, policy: policy, appliesDefault: true)
    scopeForResponse = sent.scopeForResponse(to: client)
    // What was sent upstream for the login: the upstream may have other names than the client.
    maximumScope = client.isUnlisted ? sent.scopeOfSignIn(for: resource) : nil
  }

  /// Returns the scope for the record of the token.
  ///
  /// - Parameter granted: The scope in the upstream's response; `nil` if it has none.
  /// - Returns: The scope, and true if the upstream has granted more than the policy permits to the client. The scope then
  ///   contains only the permitted part.
  public func recordedScope(granted: Scope?) -> (scope: Scope?, isLimited: Bool) {
    guard let granted else { return (scope, false) }
    guard let maximumScope, !granted.isWithin(maximumScope) else { return (granted, false) }
    return (granted.limited(to: Set(maximumScope.tokens.map(String.init))), true)
  }
}
