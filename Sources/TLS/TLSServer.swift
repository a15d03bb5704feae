internal import COpenSSL
public import Cryptography
public import Time

/// The configuration of a TLS listener.
public struct TLSServerSettings: Sendable {
  /// The certificates, at least one. Clients get the first one if they do not use SNI, or if no certificate matches the
  /// host name that they send.
  public var identities: [TLSIdentity]
  /// The lowest accepted version.
  public var minimumVersion = TLSVersion.v12
  /// OpenSSL names of cipher suites; empty for the defaults.
  public var ciphers: [String] = []
  /// The accepted issuers of client certificates; `nil` to request no client certificate.
  public var clientAuthorities: CertificateChain?
  /// True if clients without a certificate are refused.
  public var requiresClientCertificate = false
  /// The protocols for ALPN, the preferred one first (RFC 7301).
  public var applicationProtocols = ["http/1.1"]
  /// The time that a handshake may take.
  public var handshakeTimeout: Milliseconds = 10_000

  /// Creates settings with these certificates and the default values.
  public init(identities: [TLSIdentity]) {
    self.identities = identities
  }
}

/// The server side of TLS for one listener. All workers share one instance, which is immutable. A reload replaces the
/// instance for new connections, and existing connections keep theirs.
@safe public final class TLSServer: Sendable {
  /// The time that a handshake may take.
  public let handshakeTimeout: Milliseconds
  /// The certificates that clients receive, the default first.
  public let certificates: [CertificateChain]
  /// The context with the default certificate.
  let context: TLSContext
  /// The contexts by the names in their certificates, e.g. `gw.example` or `*.gw.example`.
  private let contextsByHostName: [String: TLSContext]
  private let tickets: TicketKeys
  /// The protocols for ALPN as bytes, the preferred one first.
  private let protocols: [[UInt8]]

  /// Creates the server side of a listener. Throws `TLSError` if OpenSSL refuses a certificate, a key or the cipher
  /// suites.
  public init(_ settings: TLSServerSettings, tickets: TicketKeys) throws(TLSError) {
    guard let first = settings.identities.first else { throw TLSError("no certificate") }
    handshakeTimeout = settings.handshakeTimeout
    certificates = settings.identities.map(\.chain)
    context = try TLSServer.context(first, settings)
    var byName: [String: TLSContext] = [:]
    for (index, identity) in settings.identities.enumerated() {
      let identityContext = index == 0 ? context : try TLSServer.context(identity, settings)
      // If several certificates contain the same name, the first one in the policy is used.
      for name in identity.chain.hostNames where byName[name] == nil { byName[name] = identityContext }
    }
    contextsByHostName = byName
    self.tickets = tickets
    protocols = settings.applicationProtocols.map { Array($0.utf8) }
    unsafe co_set_server_name_callback(context.pointer, chooseCertificate)
    unsafe SSL_CTX_set_tlsext_ticket_key_evp_cb(context.pointer, ticketKeyCallback)
  }

  /// Returns the context for one certificate. Throws `TLSError`.
  private static func context(
    _ identity: TLSIdentity, _ settings: TLSServerSettings
  ) throws(TLSError) -> TLSContext {
    let context = try TLSContext(.server, minimum: settings.minimumVersion, ciphers: settings.ciphers)
    let pointer = unsafe context.pointer
    try context.use(identity)
    // The server stores no sessions: a ticket contains the whole session, so every worker can resume every session.
    unsafe co_set_session_cache_off(pointer)
    unsafe SSL_CTX_set_timeout(pointer, TicketKeys.sessionLifetime.count)
    unsafe SSL_CTX_set_alpn_select_cb(pointer, chooseProtocol, nil)
    var clientRequirements: [UInt8] = [settings.requiresClientCertificate ? 1 : 0]
    if let authorities = settings.clientAuthorities {
      try context.trust(authorities)
      guard unsafe authorities.certificates.allSatisfy({ unsafe SSL_CTX_add_client_CA(pointer, $0) == 1 }) else {
        throw TLSError("a client authority cannot be used: \(TLSLibrary.lastReason())")
      }
      let mode = SSL_VERIFY_PEER | (settings.requiresClientCertificate ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0)
      unsafe SSL_CTX_set_verify(pointer, mode, nil)
      clientRequirements += authorities.fingerprints
    }
    // A session can be resumed only at a listener with the same requirements for client certificates.
    let digest = sha256(clientRequirements)
    unsafe SSL_CTX_set_session_id_context(pointer, digest, UInt32(digest.count))
    return context
  }

  /// Returns the context for a host name. A certificate for exactly this name comes first, then a certificate with a
  /// wildcard in place of the first label, then the default.
  func context(for name: String) -> TLSContext {
    let name = name.lowercased()
    if let identityContext = contextsByHostName[name] { return identityContext }
    guard let dot = name.firstIndex(of: ".") else { return context }
    return contextsByHostName["*" + name[dot...]] ?? context
  }

  /// Returns the `TLSServer` of a connection, for a callback. The layer of the connection retains the server as long as
  /// the connection exists.
  fileprivate static func owner(of connection: OpaquePointer?) -> TLSServer? {
    guard let connection = unsafe connection, let owner = unsafe co_owner(connection) else { return nil }
    return unsafe Unmanaged<TLSServer>.fromOpaque(owner).takeUnretainedValue()
  }

  /// Returns the first of the server's protocols that the client offers (RFC 7301, section 3.2); `nil` if there is
  /// none. The protocol is returned as a range of `offered`, the list of the client.
  func selectProtocol(from offered: [UInt8]) -> Range<Int>? {
    for wanted in protocols {
      var position = 0
      while position < offered.count {
        let range = position + 1..<position + 1 + Int(offered[position])
        guard range.upperBound <= offered.count else { return nil }
        if offered[range].elementsEqual(wanted) { return range }
        position = range.upperBound
      }
    }
    return nil
  }

  fileprivate func prepareTicket(
    _ name: UnsafeMutablePointer<UInt8>, _ vector: UnsafeMutablePointer<UInt8>, _ cipher: OpaquePointer,
    _ authentication: OpaquePointer, isEncrypting: Bool
  ) -> Int32 {
    unsafe tickets.prepare(name, vector, cipher, authentication, isEncrypting: isEncrypting)
  }
}

// OpenSSL calls these functions during a handshake. The pointers are valid during the call.

private let chooseCertificate:
  @convention(c) (OpaquePointer?, UnsafeMutablePointer<Int32>?, UnsafeMutableRawPointer?) -> Int32 = {
    connection, _, _ in
    guard let server = unsafe TLSServer.owner(of: connection),
      let name = unsafe SSL_get_servername(connection, TLSEXT_NAMETYPE_host_name)
    else { return SSL_TLSEXT_ERR_NOACK }
    let chosen = unsafe server.context(for: String(cString: name))
    // This changes only the certificate and the key. All other settings of the connection stay those of the listener.
    guard unsafe SSL_set_SSL_CTX(connection, chosen.pointer) != nil else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    return SSL_TLSEXT_ERR_OK
  }

private let chooseProtocol:
  @convention(c) (
    OpaquePointer?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, UnsafeMutablePointer<UInt8>?, UnsafePointer<UInt8>?,
    UInt32, UnsafeMutableRawPointer?
  ) -> Int32 = { connection, output, outputLength, input, inputLength, _ in
    guard let server = unsafe TLSServer.owner(of: connection), let output = unsafe output,
      let outputLength = unsafe outputLength, let input = unsafe input
    else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    let offered = unsafe Array(UnsafeBufferPointer(start: input, count: Int(inputLength)))
    // The handshake fails if the client offers only other protocols. Otherwise an attacker could redirect a client from
    // a server of another protocol, which has the same certificate, to this server (ALPACA attack).
    guard let range = server.selectProtocol(from: offered) else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    unsafe output.pointee = unsafe input + range.lowerBound
    unsafe outputLength.pointee = UInt8(range.count)
    return SSL_TLSEXT_ERR_OK
  }

private let ticketKeyCallback:
  @convention(c) (
    OpaquePointer?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt8>?, OpaquePointer?, OpaquePointer?, Int32
  ) -> Int32 = { connection, name, vector, cipher, authentication, isEncrypting in
    guard let server = unsafe TLSServer.owner(of: connection), let name = unsafe name, let vector = unsafe vector,
      let cipher = unsafe cipher, let authentication = unsafe authentication
    else { return -1 }
    let answer = unsafe server.prepareTicket(name, vector, cipher, authentication, isEncrypting: isEncrypting == 1)
    // A client should use a ticket of TLS 1.3 only once (RFC 8446, appendix C.4). So the answer 1 (continue) becomes 2
    // (continue and replace the ticket).
    return unsafe answer == 1 && isEncrypting == 0 && SSL_version(connection) == TLS1_3_VERSION ? 2 : answer
  }
