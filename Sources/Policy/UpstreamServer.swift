/// The place of a server of the upstream.
public enum UpstreamServer: Hashable, Sendable {
  /// The scheme, host and port.
  case origin(Origin)
  /// A Unix-domain socket: an absolute path, or `@` and a name in the abstract namespace.
  case unixSocket(String)

  /// The URL as in the policy.
  public var url: String {
    switch self {
    case .origin(let origin): origin.description
    case .unixSocket(let path): "unix:\(path)"
    }
  }
}

/// The rule by which one of several addresses of the upstream is chosen.
public enum AddressAffinity: Hashable, Sendable {
  /// The address with the fewest requests in progress.
  case none
  /// An address that follows from the address of the client.
  case clientAddress
  /// The address that set the cookie with this name.
  case cookie(String)
}
