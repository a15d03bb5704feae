/// The paths of the server's OAuth endpoints.
public struct LegacyPaths: Sendable {
  /// The paths of the authorization endpoint.
  public var authorization: Set<String>
  /// The paths of the token endpoint.
  public var token: Set<String>
  /// The paths of the revocation endpoint.
  public var revocation: Set<String>

  /// Creates the paths, by default one for each endpoint.
  public init(
    authorization: Set<String> = ["/authorize"], token: Set<String> = ["/token"], revocation: Set<String> = ["/revoke"]
  ) {
    self.authorization = authorization
    self.token = token
    self.revocation = revocation
  }

  enum Endpoint {
    case authorization
    case token
    case revocation
  }

  /// Returns the endpoint whose paths contain `path`; `nil` for every other path.
  func endpoint(at path: String) -> Endpoint? {
    if authorization.contains(path) { return .authorization }
    if token.contains(path) { return .token }
    return revocation.contains(path) ? .revocation : nil
  }
}
