internal import COpenSSL

/// Texts by which an operator recognises a certificate.
extension CertificateChain {
  /// The subject of the first certificate in the form of RFC 4514, e.g. `CN=gw.example`; all characters except
  /// printable ASCII are escaped. Empty for a certificate without a subject, which is allowed if it has alternative
  /// names.
  public var subject: String {
    guard let first = unsafe certificates.first, let output = unsafe BIO_new(BIO_s_mem()) else { return "" }
    defer {
      unsafe BIO_free(output)
      ERR_clear_error()
    }
    guard unsafe co_print_subject(output, first) == 1 else { return "" }
    // The text is cut after 1024 bytes. Most subjects are shorter, because RFC 5280, appendix A.1, limits the length of
    // each attribute.
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 1024) { buffer, count in
      count = max(0, Int(unsafe BIO_read(output, buffer.baseAddress, Int32(buffer.count))))
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The SHA-256 digest of the first certificate: 64 hexadecimal digits in lower case without colons. (`openssl x509
  /// -fingerprint -sha256` prints the same digits in upper case with colons.)
  public var fingerprint: String {
    fingerprints.prefix(32).reduce(into: "") { text, byte in
      if byte < 16 { text += "0" }
      text += String(byte, radix: 16)
    }
  }
}
