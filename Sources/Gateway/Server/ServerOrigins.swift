import Policy

/// The origins that a server may write into its URLs and that browsers reach at the gateway's origin.
struct ServerOrigins: Sendable {
  /// The origin of `upstream.url`, and the host that the gateway sends as `Host` with either scheme: a server builds URLs
  /// from `Host`, and takes the scheme from its connection or from `X-Forwarded-Proto`. Without the gateway's own host.
  let hidden: [String]
  /// The spellings of the gateway's origin with http; empty if its scheme is http.
  let insecure: [String]

  init(_ policy: Policy) {
    self.init(policy.upstream, gateway: policy.gateway.origin)
  }

  init(_ upstream: UpstreamSettings, gateway: Origin) {
    // A Unix socket has no host of its own.
    var hidden = upstream.unixSocket == nil ? [upstream.origin.description] : []
    let host = upstream.authority(for: gateway)
    if host != gateway.authority { hidden += ["http://\(host)", "https://\(host)"].filter { !hidden.contains($0) } }
    self.hidden = hidden.filter { $0 != gateway.description }
    guard gateway.scheme == .https else {
      insecure = []
      return
    }
    insecure = ["http://\(gateway.authority)"] + (gateway.port == 443 ? ["http://\(gateway.authority):80"] : [])
  }
}
