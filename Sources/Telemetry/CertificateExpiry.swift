public import Time

/// The expiry date of one certificate that the gateway presents to clients or to the upstream.
public struct CertificateExpiry: Hashable, Sendable {
  /// The address of the listener that presents the certificate; `upstream` for the client certificate that the gateway
  /// presents to the upstream.
  public let listener: String
  /// The first host name of the certificate, or its subject.
  public let name: String
  /// The first digits of the certificate's fingerprint, which distinguish two certificates for the same name.
  public let fingerprint: String
  /// The end of the validity period.
  public let end: UnixTime

  /// Creates the entry from its labels and the end of the validity period.
  public init(listener: String, name: String, fingerprint: String, end: UnixTime) {
    self.listener = listener
    self.name = name
    self.fingerprint = fingerprint
    self.end = end
  }
}
