internal import COpenSSL
public import Cryptography
internal import Reactor
internal import Synchronization

/// The client side of TLS for connections to one server, whose certificate is always verified. All workers share one
/// instance. It is immutable except for the latest session.
@safe public final class TLSClient: Sendable {
  let context: TLSContext
  /// The name for SNI; `nil` if the name of the server is an IP address (RFC 6066, section 3).
  let serverName: String?
  /// The latest session from the server. The next connection tries to resume it, which needs no certificate and no
  /// private key operation. This is safe, because the server's certificate was verified when the session began, with
  /// the settings of this object.
  private let session = Mutex<TLSSession?>(nil)

  /// Creates a client. Throws `TLSError` if an argument cannot be used.
  ///
  /// - Parameters:
  ///   - name: The host name or IP address for which the server's certificate must be valid.
  ///   - authorities: The accepted issuers of that certificate.
  ///   - identity: The client certificate and its key, for servers that request a certificate.
  ///   - applicationProtocols: The protocols for ALPN (RFC 7301), the preferred one first; empty for no ALPN.
  public init(
    name: String, authorities: CertificateChain, identity: TLSIdentity? = nil, minimumVersion: TLSVersion = .v12,
    maximumVersion: TLSVersion = .v13, applicationProtocols: [String] = ["http/1.1"]
  ) throws(TLSError) {
    context = try TLSContext(.client, minimum: minimumVersion, ciphers: [])
    let pointer = unsafe context.pointer
    guard unsafe co_set_protocols(pointer, minimumVersion.code, maximumVersion.code) == 1 else {
      throw TLSError("no such versions of TLS")
    }
    try context.trust(authorities)
    unsafe SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER, nil)
    if let identity { try context.use(identity) }
    unsafe co_set_client_sessions(pointer, storeSession)
    let isAddress = Address(literal: name, port: 0) != nil
    serverName = isAddress ? nil : name
    let parameters = unsafe SSL_CTX_get0_param(pointer)
    unsafe X509_VERIFY_PARAM_set_hostflags(parameters, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
    let isSet =
      isAddress
      ? unsafe X509_VERIFY_PARAM_set1_ip_asc(parameters, name)
      : unsafe X509_VERIFY_PARAM_set1_host(parameters, name, 0)
    var protocolList: [UInt8] = []
    for name in applicationProtocols { protocolList += [UInt8(name.utf8.count)] + name.utf8 }
    guard isSet == 1,
      unsafe protocolList.isEmpty || SSL_CTX_set_alpn_protos(pointer, protocolList, UInt32(protocolList.count)) == 0
    else {
      throw TLSError("`\(name)` cannot be verified: \(TLSLibrary.lastReason())")
    }
  }

  var latestSession: TLSSession? { session.withLock { $0 } }

  fileprivate func store(_ session: TLSSession) {
    self.session.withLock { $0 = session }
  }
}

/// A TLS session that can be resumed. `nonisolated(unsafe)` is sound because OpenSSL counts the references of a session
/// and does not change it after passing it to the callback.
@safe final class TLSSession: Sendable {
  nonisolated(unsafe) let pointer: OpaquePointer

  /// Takes over the caller's reference to the session.
  fileprivate init(_ pointer: OpaquePointer) {
    unsafe self.pointer = unsafe pointer
  }

  deinit {
    unsafe SSL_SESSION_free(pointer)
  }
}

// Sound: the pointers are valid during the call, and the layer of the connection retains the client as long as the
// connection exists.
private let storeSession: @convention(c) (OpaquePointer?, OpaquePointer?) -> Int32 = { connection, session in
  guard let connection = unsafe connection, let session = unsafe session, let owner = unsafe co_owner(connection) else {
    return 0
  }
  unsafe Unmanaged<TLSClient>.fromOpaque(owner).takeUnretainedValue().store(TLSSession(session))
  return 1
}
