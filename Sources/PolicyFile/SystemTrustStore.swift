import Cryptography

/// The certificates of the authorities that the machine trusts, in the usual files of Linux distributions.
///
/// OpenSSL has default paths for these files, but they cannot be used: they are fixed when OpenSSL is compiled, so in a
/// static binary they may differ from those of the machine, and OpenSSL reports no error if the files do not exist.
package enum SystemTrustStore {
  private static let files = [
    "/etc/ssl/certs/ca-certificates.crt",  // Debian, Alpine
    "/etc/pki/tls/certs/ca-bundle.crt",  // Fedora
    "/etc/ssl/ca-bundle.pem",  // SUSE
    "/etc/ssl/cert.pem",
  ]

  /// Returns the certificates of the first file that can be read and parsed; `nil` if there is no such file. A file
  /// that is missing, empty, damaged or too large is skipped.
  ///
  /// The result is a `CertificateChain` only because that type holds any list of certificates. These certificates are
  /// no chain: each belongs to an independent authority.
  package static func load() -> CertificateChain? {
    for file in files {
      // The limit is about ten times the size of the largest of these files.
      guard let bytes = try? FileSystem.read(file, limit: 4 << 20) else { continue }
      if let authorities = try? CertificateChain(pem: bytes) { return authorities }
    }
    return nil
  }
}
