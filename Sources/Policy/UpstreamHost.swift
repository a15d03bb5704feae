/// The value of `Host` in requests to the server (`upstream.host`). The name in the server's certificate and the server
/// name of TLS never depend on it.
public enum UpstreamHost: Sendable, Equatable {
  /// The public host, with its port: that of `gateway.origin`. Frameworks compare it with the `Origin` field of forms, and
  /// with the hosts for which they are configured.
  case origin
  /// The host of `upstream.url`, or of the first of `urls`, with its port.
  case upstream
  /// This host, in lower case, with a port if there is one.
  case name(String)
}

extension UpstreamSettings {
  /// The setting, or its default: the public host for a server that is reached with http, and the host of `url` for one that
  /// is reached with https, which may serve other sites under other names.
  public var effectiveHost: UpstreamHost { host ?? (origin.scheme == .http ? .origin : .upstream) }

  /// Returns the value of `Host` in requests to the server.
  ///
  /// - Parameter gateway: The gateway's origin.
  public func authority(for gateway: Origin) -> String {
    switch effectiveHost {
    case .origin: gateway.authority
    case .upstream: origin.authority
    case .name(let name): name
    }
  }
}
