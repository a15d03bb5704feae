import Cryptography

/// The authorities that the machine trusts, from where distributions keep them.
///
/// OpenSSL's own default paths are compiled in and differ from the machine's in a static binary; and setting them
/// succeeds where there is nothing.
enum SystemAuthorities {
  private static let files = [
    "/etc/ssl/certs/ca-certificates.crt",  // Debian, Alpine
    "/etc/pki/tls/certs/ca-bundle.crt",  // Fedora
    "/etc/ssl/ca-bundle.pem",  // SUSE
    "/etc/ssl/cert.pem",
  ]

  /// `nil` when there are none.
  static func load() -> CertificateChain? {
    for file in files {
      // Ten times what the largest of them has.
      guard let bytes = try? FileSystem.read(file, limit: 4 << 20) else { continue }
      if let authorities = try? CertificateChain(pem: bytes) { return authorities }
    }
    return nil
  }
}
