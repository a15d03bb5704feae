internal import COpenSSL
public import Cryptography

/// A certificate chain and the private key of its first certificate.
public struct TLSIdentity: Sendable {
  /// The certificate itself and then its issuers.
  public let chain: CertificateChain
  /// The private key of the first certificate.
  public let key: PrivateKey

  /// Combines a chain with its key. This does not check that they belong together; a TLS server or client throws
  /// `TLSError` if they do not.
  public init(_ chain: CertificateChain, _ key: PrivateKey) {
    self.chain = chain
    self.key = key
  }
}

/// An `SSL_CTX` that is configured once and then only read.
///
/// `nonisolated(unsafe)` is sound because OpenSSL counts references atomically and uses locks of its own, and this
/// module changes a context only within the initialiser of its owner.
@safe final class TLSContext: Sendable {
  nonisolated(unsafe) let pointer: OpaquePointer

  /// The default cipher suites for TLS 1.2. All of them have forward secrecy and authenticated encryption (RFC 9325,
  /// section 4.2).
  static let defaultTLS12Suites = [
    "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384",
    "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305",
  ]
  /// Two lists of key exchange groups. The second list is used if OpenSSL does not accept the first one: the hybrid
  /// group with ML-KEM needs OpenSSL 3.5 or later.
  private static let groups = ["X25519MLKEM768:X25519:P-256:P-384", "X25519:P-256:P-384"]

  enum Role {
    case server
    case client
  }

  /// Creates a context. Throws `TLSError` if OpenSSL refuses the cipher suites or cannot create the context.
  ///
  /// - Parameter ciphers: The OpenSSL names of cipher suites for TLS 1.2 and 1.3. If the list contains no suite for a
  ///   version, the defaults for that version apply.
  init(_ role: Role, minimum: TLSVersion, ciphers: [String]) throws(TLSError) {
    TLSLibrary.start()
    let method = unsafe role == .server ? TLS_server_method() : TLS_client_method()
    // The transport of all connections is created here, so that a lack of memory shows at the start.
    guard TLSTransport.isReady, let context = unsafe SSL_CTX_new(method) else {
      throw TLSError(TLSLibrary.lastReason())
    }
    unsafe pointer = unsafe context
    // Level 2 requires a security strength of 112 bits, as RFC 9325, section 4, does. It is set here because the
    // default level differs between Linux distributions.
    unsafe SSL_CTX_set_security_level(context, 2)
    unsafe co_set_modes(context)
    unsafe co_set_no_auto_retry(context)
    unsafe co_set_options(context)
    unsafe co_set_read_ahead(context)
    let tls13Suites = ciphers.filter { $0.hasPrefix("TLS_") }
    let otherSuites = ciphers.filter { !$0.hasPrefix("TLS_") }
    let tls12Suites = otherSuites.isEmpty ? TLSContext.defaultTLS12Suites : otherSuites
    guard unsafe co_set_protocols(context, minimum.code, TLS1_3_VERSION) == 1,
      unsafe SSL_CTX_set_cipher_list(context, tls12Suites.joined(separator: ":")) == 1,
      unsafe tls13Suites.isEmpty || SSL_CTX_set_ciphersuites(context, tls13Suites.joined(separator: ":")) == 1,
      TLSContext.groups.contains(where: { unsafe co_set_groups(context, $0) == 1 })
    else { throw TLSError("no such cipher suites: \(TLSLibrary.lastReason())") }
    ERR_clear_error()
  }

  deinit {
    unsafe SSL_CTX_free(pointer)
  }

  /// Sets the certificate, its chain and its key. Throws `TLSError` if OpenSSL refuses one of them.
  func use(_ identity: TLSIdentity) throws(TLSError) {
    guard let first = unsafe identity.chain.certificates.first,
      unsafe SSL_CTX_use_certificate(pointer, first) == 1
    else { throw TLSError("the certificate cannot be used: \(TLSLibrary.lastReason())") }
    let issuers = unsafe identity.chain.certificates.dropFirst()
    guard unsafe issuers.allSatisfy({ unsafe co_add_chain_certificate(pointer, $0) == 1 }) else {
      throw TLSError("the certificate's chain cannot be used: \(TLSLibrary.lastReason())")
    }
    guard unsafe SSL_CTX_use_PrivateKey(pointer, identity.key.key) == 1 else {
      throw TLSError("the private key cannot be used: \(TLSLibrary.lastReason())")
    }
  }

  /// Trusts these authorities only. Throws `TLSError` if OpenSSL refuses one of them.
  func trust(_ authorities: CertificateChain) throws(TLSError) {
    guard let store = unsafe X509_STORE_new() else { throw TLSError(TLSLibrary.lastReason()) }
    // The context takes over the reference to `store`.
    unsafe SSL_CTX_set_cert_store(pointer, store)
    guard unsafe authorities.certificates.allSatisfy({ unsafe X509_STORE_add_cert(store, $0) == 1 }) else {
      throw TLSError("a trusted certificate cannot be used: \(TLSLibrary.lastReason())")
    }
  }
}
