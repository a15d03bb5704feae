public import Policy
public import Proxy

extension UpstreamSettings {
  /// The place at which the server accepts connections.
  public var location: ServerLocation {
    unixSocket.map { .unixSocket(path: $0) } ?? .host(origin.host, port: origin.port)
  }
}
