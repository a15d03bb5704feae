internal import COpenSSL
public import Time

/// The reason why a PEM text cannot be used.
public enum PEMError: Error, Equatable, Sendable {
  /// The text contains no certificate or, if a private key is read, no private key.
  case notFound
  /// A certificate or key in the text is damaged or of an unknown kind.
  case malformed
  /// The private key is encrypted. It is refused, because a server has no user who could type the pass phrase.
  case encrypted
}

/// The certificates of a PEM text, in the order of the text. They are either the certificate of a server or client,
/// followed by its issuers, or a list of trusted authorities.
///
/// `nonisolated(unsafe)` is sound because this object is immutable once created. A certificate of OpenSSL has an atomic
/// reference count and its own lock.
@safe public final class CertificateChain: Sendable {
  /// At least one certificate. This object holds a reference to each.
  nonisolated(unsafe) package let certificates: [OpaquePointer]

  /// Reads all certificates of a PEM text. Throws `PEMError` if the text contains no certificate or a damaged one.
  public init(pem: [UInt8]) throws(PEMError) {
    CryptographyLibrary.start()
    var found: [OpaquePointer] = unsafe []
    var isMalformed = false
    // The stream only reads the text, and is freed before the text. This object takes over the reference that OpenSSL
    // returns for each certificate.
    unsafe pem.withUnsafeBytes { bytes in
      guard let stream = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return }
      defer { unsafe BIO_free(stream) }
      ERR_clear_error()
      while let certificate = unsafe PEM_read_bio_X509(stream, nil, refusePassphrase, nil) {
        unsafe found.append(certificate)
      }
      // OpenSSL reports the end of the text as an error too; any other error means a damaged certificate.
      let code = ERR_peek_last_error()
      isMalformed = code != 0 && ERR_GET_REASON(code) != PEM_R_NO_START_LINE
      ERR_clear_error()
    }
    unsafe certificates = unsafe found
    if isMalformed { throw .malformed }
    if unsafe found.isEmpty { throw .notFound }
  }

  deinit {
    for index in unsafe certificates.indices { unsafe X509_free(certificates[index]) }
  }

  /// The number of certificates, at least 1.
  public var count: Int { unsafe certificates.count }

  /// The validity period of the first certificate.
  public var validity: ClosedRange<UnixTime> {
    guard let first = unsafe certificates.first else { return 0...0 }
    let begins = unsafe CertificateChain.time(X509_get0_notBefore(first))
    let ends = unsafe CertificateChain.time(X509_get0_notAfter(first))
    return begins...max(begins, ends)
  }

  /// Converts a time of a certificate; 0 for a time that OpenSSL cannot read.
  private static func time(_ time: UnsafePointer<ASN1_TIME>?) -> UnixTime {
    guard let epoch = unsafe ASN1_TIME_set(nil, 0) else { return 0 }
    defer { unsafe ASN1_TIME_free(epoch) }
    var days: Int32 = 0
    var seconds: Int32 = 0
    guard unsafe ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else { return 0 }
    return UnixTime(seconds: Int64(days) * 86_400 + Int64(seconds))
  }

  /// The host names of the first certificate in lower case; a wildcard name begins with `*.` (RFC 6125).
  ///
  /// Only the subject alternative names are read, because clients no longer use the common name.
  public var hostNames: [String] {
    guard let first = unsafe certificates.first,
      let list = unsafe X509_get_ext_d2i(first, NID_subject_alt_name, nil, nil)
    else { return [] }
    // OpenSSL documents that the value of this extension is a `GENERAL_NAMES` list, which the caller must free.
    let names = OpaquePointer(list)
    defer { unsafe co_free_names(names) }
    var found: [String] = []
    for index in 0..<(unsafe co_name_count(names)) {
      guard let name = unsafe co_name(names, index), let text = unsafe co_host_name(name),
        let bytes = unsafe ASN1_STRING_get0_data(text)
      else { continue }
      let buffer = unsafe UnsafeBufferPointer(start: bytes, count: Int(ASN1_STRING_length(text)))
      found.append(unsafe String(decoding: buffer, as: UTF8.self).lowercased())
    }
    return found
  }

  /// True if `key` is the private key of the first certificate.
  public func belongs(to key: PrivateKey) -> Bool {
    guard let first = unsafe certificates.first else { return false }
    defer { ERR_clear_error() }
    return unsafe X509_check_private_key(first, key.key) == 1
  }

  /// The SHA-256 digests of all certificates, one after the other: 32 bytes for each certificate.
  public var fingerprints: [UInt8] {
    unsafe certificates.flatMap { certificate -> [UInt8] in
      unsafe [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { output, count in
        // The output has room for the longest digest that OpenSSL supports.
        var length: UInt32 = 0
        guard unsafe X509_digest(certificate, Algorithms.sha256, output.baseAddress, &length) == 1 else { return }
        count = Int(length)
      }
    }
  }

  /// The security strength of the first certificate's public key in bits (NIST SP 800-57), e.g. 112 for an RSA key of
  /// 2048 bits; 0 if OpenSSL cannot read the key.
  public var securityBits: Int {
    guard let first = unsafe certificates.first, let key = unsafe X509_get0_pubkey(first) else { return 0 }
    return Int(unsafe EVP_PKEY_get_security_bits(key))
  }
}

/// The private key of a certificate. Its description is `***`.
///
/// Immutable once created, and safe to share for the same reasons as `CertificateChain`.
@safe public final class PrivateKey: Sendable, CustomStringConvertible {
  nonisolated(unsafe) package let key: OpaquePointer

  /// Reads the first private key of a PEM text. Throws `PEMError` if there is no key, or a damaged or encrypted one.
  public init(pem: [UInt8]) throws(PEMError) {
    CryptographyLibrary.start()
    let found = unsafe pem.withUnsafeBytes { bytes -> OpaquePointer? in
      guard let stream = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
      defer { unsafe BIO_free(stream) }
      return unsafe PEM_read_bio_PrivateKey(stream, nil, refusePassphrase, nil)
    }
    ERR_clear_error()
    guard let key = unsafe found else {
      // OpenSSL has tried several decoders, and its last error can be from any of them. So the labels in the PEM text
      // decide which error is thrown.
      let text = String(decoding: pem, as: UTF8.self)
      guard text.contains("PRIVATE KEY-----") else { throw .notFound }
      throw text.contains("ENCRYPTED") ? .encrypted : .malformed
    }
    unsafe self.key = unsafe key
  }

  deinit {
    unsafe EVP_PKEY_free(key)
  }

  /// `***`, so that a log never shows the key.
  public var description: String { "***" }
}

/// Returns no pass phrase. Without this callback, OpenSSL would ask for the pass phrase at the terminal.
private let refusePassphrase:
  @convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?) -> Int32 =
    { _, _, _, _ in -1 }
