internal import COpenSSL

/// What an operator knows a certificate by.
extension CertificateChain {
  /// The subject of the first certificate as RFC 4514 writes it, e.g. `CN=gw.example`; what is no printable ASCII is
  /// escaped. Empty where the certificate has none, as those for names alone may.
  public var subject: String {
    guard let first = unsafe certificates.first, let output = unsafe BIO_new(BIO_s_mem()) else { return "" }
    defer {
      unsafe BIO_free(output)
      ERR_clear_error()
    }
    guard unsafe co_print_subject(output, first) == 1 else { return "" }
    // Names have bounds of a few hundred bytes each (RFC 5280, appendix A.1); a longer subject is cut.
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 1024) { buffer, count in
      count = max(0, Int(unsafe BIO_read(output, buffer.baseAddress, Int32(buffer.count))))
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// SHA-256 of the first certificate in hexadecimal, as `openssl x509 -fingerprint -sha256` shows it without colons.
  public var fingerprint: String {
    fingerprints.prefix(32).reduce(into: "") { text, byte in
      if byte < 16 { text += "0" }
      text += String(byte, radix: 16)
    }
  }
}
