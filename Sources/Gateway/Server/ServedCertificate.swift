public import Cryptography
public import Telemetry

/// A certificate that the gateway presents to clients or to the upstream.
public struct ServedCertificate: Sendable {
  /// The address of the listener that presents the certificate, such as `127.0.0.1:8443`, or the word `upstream` for
  /// the certificate that the gateway presents to the upstream.
  public let presentedOn: String
  /// The certificate with its intermediate certificates.
  public let chain: CertificateChain

  /// The expiry of the certificate for the metrics, with the first 16 characters of its fingerprint.
  public var expiry: CertificateExpiry {
    CertificateExpiry(
      listener: presentedOn, name: chain.hostNames.first ?? chain.subject,
      fingerprint: String(chain.fingerprint.prefix(16)), end: chain.validity.upperBound)
  }
}
