public import OAuth
public import Policy

extension AccessTokenRecord {
  /// Returns the record with the part of its scope that the policy permits to a client; `nil` if the policy does not
  /// permit the client the resource of the token, or any token of its scope.
  ///
  /// The limits of a client that the policy does not list may have become narrower since the token was issued. They do
  /// not concern the scope tokens that the policy itself adds to each request for the resource.
  public func limited(to client: Client, _ policy: Policy) -> AccessTokenRecord? {
    let listed = resource.flatMap { policy.resources[$0] }
    guard resource == nil || listed?.isWithinLimits(of: client) == true else { return nil }
    guard let scope, let allowed = client.allowedScopes else { return self }
    guard let rest = scope.limited(to: allowed.union(listed?.upstream.scope?.tokens.map(String.init) ?? [])) else {
      return nil
    }
    var limited = self
    limited.scope = rest
    return limited
  }
}
