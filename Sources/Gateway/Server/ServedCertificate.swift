public import Cryptography
public import Telemetry

/// A certificate that the gateway shows to others.
public struct ServedCertificate: Sendable {
  /// The listener's address, or `upstream` for what the gateway shows to the upstream.
  public let place: String
  public let chain: CertificateChain

  /// When it expires, for the metrics.
  public var expiry: CertificateExpiry {
    CertificateExpiry(
      place: place, name: chain.hostNames.first ?? chain.subject, fingerprint: String(chain.fingerprint.prefix(16)),
      seconds: chain.validity.upperBound)
  }
}
