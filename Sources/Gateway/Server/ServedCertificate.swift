public import Cryptography
public import Telemetry

/// A certificate that the gateway shows to its peers.
public struct ServedCertificate: Sendable {
  /// The listener's address, or `upstream` for the certificate that the gateway shows to the upstream.
  public let place: String
  /// The certificate with its intermediate certificates.
  public let chain: CertificateChain

  /// The expiry of the certificate, for the metrics.
  public var expiry: CertificateExpiry {
    CertificateExpiry(
      place: place, name: chain.hostNames.first ?? chain.subject, fingerprint: String(chain.fingerprint.prefix(16)),
      seconds: chain.validity.upperBound)
  }
}
