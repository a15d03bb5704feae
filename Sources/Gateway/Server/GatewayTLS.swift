import Cryptography
public import Policy
import Proxy
public import TLS

/// The TLS servers and the TLS client of a policy, with their certificates and keys loaded.
public struct GatewayTLS: Sendable {
  /// The TLS server of each listener, in the order of the policy; `nil` for a plaintext listener.
  let tlsServers: [TLSServer?]
  private let addresses: [ListenerAddress]
  /// The TLS client for connections to the upstream; `nil` for plaintext.
  public let upstream: TLSClient?
  /// The certificate that the gateway presents to the upstream; `nil` if the policy names none.
  let upstreamCertificate: CertificateChain?

  /// Loads the certificates and keys.
  ///
  /// Throws `TLSError` if a certificate, a key or a cipher suite cannot be used.
  ///
  /// - Parameter tickets: The keys of TLS session tickets. The process keeps them across reloads, so that clients can
  ///   resume older sessions.
  public init(_ policy: Policy, tickets: TicketKeys) throws(TLSError) {
    var tlsServers: [TLSServer?] = []
    for listener in policy.gateway.listeners {
      tlsServers.append(
        try listener.tls.map { tls throws(TLSError) in
          var settings = TLSServerSettings(tls)
          if policy.gateway.http2 { settings.applicationProtocols.insert("h2", at: 0) }
          return try TLSServer(settings, tickets: tickets)
        })
    }
    self.tlsServers = tlsServers
    addresses = policy.gateway.listeners.map(\.address)
    upstreamCertificate = policy.upstream.tls?.certificate?.chain
    upstream = try policy.upstream.tls.map { tls throws(TLSError) in
      try TLSClient(
        name: tls.serverName, authorities: tls.authorities, identity: tls.certificate.map(TLSIdentity.init),
        minimumVersion: TLSVersion(tls.minimumVersion))
    }
  }

  /// Returns the TLS server that each open listener uses after a reload; `nil` for a plaintext listener.
  ///
  /// `self` contains the TLS settings of the policy with which the process started. The listeners were opened for that
  /// policy, and only a restart opens and closes listeners. A listener gets the TLS server that `next` has for its
  /// address. If `next` does not list the address or has no TLS for it, the listener keeps its current TLS server. A
  /// plaintext listener stays plaintext.
  ///
  /// - Parameters:
  ///   - next: The TLS servers of the new policy.
  ///   - current: The TLS server that each open listener uses now; `nil` for a plaintext listener.
  func tlsServersOfOpenListeners(preferring next: GatewayTLS, otherwise current: [TLSServer?]) -> [TLSServer?] {
    addresses.indices.map { index in
      guard let currentServer = current[index] else { return nil }
      // If several listeners have the same address, e.g. with port 0, the position in the policy decides.
      let nextIndex =
        index < next.addresses.count && next.addresses[index] == addresses[index]
        ? index : next.addresses.firstIndex(of: addresses[index])
      return nextIndex.flatMap { next.tlsServers[$0] } ?? currentServer
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
