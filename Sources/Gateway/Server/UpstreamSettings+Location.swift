public import Policy
public import Proxy

extension UpstreamSettings {
  /// The places at which the servers accept connections.
  public var locations: [ServerLocation] {
    servers.map { server in
      switch server {
      case .origin(let origin): .host(origin.host, port: origin.port)
      case .unixSocket(let path): .unixSocket(path: path)
      }
    }
  }
}
