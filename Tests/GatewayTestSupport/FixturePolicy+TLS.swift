public import Policy
public import TLS

extension FixturePolicy {
  /// Gives the only listener TLS with these certificates, and trusts no proxy.
  public mutating func serveTLS(_ identities: [TLSIdentity], _ adjust: (inout ListenerTLS) -> Void = { _ in }) {
    var tls = ListenerTLS(certificates: identities.map { CertificateAndKey(chain: $0.chain, key: $0.key) })
    adjust(&tls)
    gateway.listeners = [ListenerSettings(address: SocketAddress(host: "127.0.0.1", port: 0), tls: tls)]
    gateway.trustedProxies = []
  }
}
