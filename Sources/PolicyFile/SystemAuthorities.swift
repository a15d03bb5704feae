import Cryptography

/// The authorities that the machine trusts, from the usual files of Linux distributions.
///
/// The default paths of OpenSSL are not usable: they are compiled in, so in a static binary they differ from those of
/// the machine, and loading them reports no error if there are no files.
enum SystemAuthorities {
  private static let files = [
    "/etc/ssl/certs/ca-certificates.crt",  // Debian, Alpine
    "/etc/pki/tls/certs/ca-bundle.crt",  // Fedora
    "/etc/ssl/ca-bundle.pem",  // SUSE
    "/etc/ssl/cert.pem",
  ]

  /// Returns the authorities of the first file that has some; `nil` if there is no such file.
  static func load() -> CertificateChain? {
    for file in files {
      // Ten times the size of the largest of them.
      guard let bytes = try? FileSystem.read(file, limit: 4 << 20) else { continue }
      if let authorities = try? CertificateChain(pem: bytes) { return authorities }
    }
    return nil
  }
}
