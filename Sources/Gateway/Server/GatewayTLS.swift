import Cryptography
public import Policy
import Proxy
public import TLS

/// The TLS of a policy, ready for use.
public struct GatewayTLS: Sendable {
  /// The TLS of each listener of the policy, in its order; `nil` for a plaintext one.
  let listeners: [TLSServer?]
  private let addresses: [SocketAddress]
  /// The TLS for connections to the upstream; `nil` for plaintext.
  public let upstream: TLSClient?
  /// The gateway's own certificate for the upstream, if the policy names one.
  let upstreamCertificate: CertificateChain?

  /// Loads the certificates and keys.
  ///
  /// Throws `TLSError` if a certificate, a key or a cipher suite cannot be used.
  ///
  /// - Parameter tickets: The ticket keys of the process, so that sessions outlive a reload.
  public init(_ policy: Policy, tickets: TicketKeys) throws(TLSError) {
    var listeners: [TLSServer?] = []
    for listener in policy.gateway.listeners {
      listeners.append(
        try listener.tls.map { tls throws(TLSError) in
          var settings = TLSServerSettings(tls)
          if policy.gateway.http2 { settings.applicationProtocols.insert("h2", at: 0) }
          return try TLSServer(settings, tickets: tickets)
        })
    }
    self.listeners = listeners
    addresses = policy.gateway.listeners.map(\.address)
    upstreamCertificate = policy.upstream.tls?.certificate?.chain
    upstream = try policy.upstream.tls.map { tls throws(TLSError) in
      try TLSClient(
        name: tls.serverName, authorities: tls.authorities, identity: tls.certificate.map(TLSIdentity.init),
        minimumVersion: TLSVersion(tls.minimumVersion))
    }
  }

  /// Returns the TLS settings of another policy for the listeners that this policy opened. A listener that the other
  /// policy does not list, or changes between plaintext and TLS, keeps its settings: only a restart opens and closes
  /// listeners.
  func listeners(from next: GatewayTLS, in force: [TLSServer?]) -> [TLSServer?] {
    addresses.indices.map { index in
      let old = force[index]
      guard old != nil else { return nil }
      let place =
        index < next.addresses.count && next.addresses[index] == addresses[index]
        ? index : next.addresses.firstIndex(of: addresses[index])
      return place.flatMap { next.listeners[$0] } ?? old
    }
  }
}

extension TLSServerSettings {
  fileprivate init(_ tls: ListenerTLS) {
    self.init(identities: tls.certificates.map(TLSIdentity.init))
    minimumVersion = TLSVersion(tls.minimumVersion)
    ciphers = tls.ciphers.map(\.rawValue)
    clientAuthorities = tls.clientAuthorities
    requiresClientCertificate = tls.clientCertificate == .require
    handshakeTimeout = tls.handshakeTimeout
  }
}

extension TLSIdentity {
  fileprivate init(_ certificate: CertificateAndKey) {
    self.init(certificate.chain, certificate.key)
  }
}

extension TLSVersion {
  fileprivate init(_ minimum: MinimumTLSVersion) {
    switch minimum {
    case .v12: self = .v12
    case .v13: self = .v13
    }
  }
}
