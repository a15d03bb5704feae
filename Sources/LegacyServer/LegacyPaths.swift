/// The paths of the server's OAuth endpoints.
public struct LegacyPaths: Sendable {
  /// The paths of the authorization endpoint.
  public var authorization: Set<String>
  /// The paths of the token endpoint.
  public var token: Set<String>
  /// The paths of the revocation endpoint.
  public var revocation: Set<String>
  /// The paths of the device authorization endpoint (RFC 8628); none if the server does not have the grant.
  public var deviceAuthorization: Set<String>

  /// Creates the paths, by default one for each endpoint but device authorization.
  public init(
    authorization: Set<String> = ["/authorize"], token: Set<String> = ["/token"], revocation: Set<String> = ["/revoke"],
    deviceAuthorization: Set<String> = []
  ) {
    self.deviceAuthorization = deviceAuthorization
    self.authorization = authorization
    self.token = token
    self.revocation = revocation
  }

  enum Endpoint {
    case authorization
    case token
    case revocation
    case deviceAuthorization
  }

  /// Returns the endpoint whose paths contain `path`; `nil` for every other path.
  func endpoint(at path: String) -> Endpoint? {
    if authorization.contains(path) { return .authorization }
    if token.contains(path) { return .token }
    if deviceAuthorization.contains(path) { return .deviceAuthorization }
    return revocation.contains(path) ? .revocation : nil
  }
}
