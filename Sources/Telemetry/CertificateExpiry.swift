/// When a certificate that is shown to others expires.
public struct CertificateExpiry: Hashable, Sendable {
  /// The listener's address, or `upstream`.
  public let place: String
  /// The first host name that it is for, or its subject.
  public let name: String
  /// The beginning of its fingerprint: tells two for one name apart.
  public let fingerprint: String
  /// Since 1970.
  public let seconds: Int64

  public init(place: String, name: String, fingerprint: String, seconds: Int64) {
    self.place = place
    self.name = name
    self.fingerprint = fingerprint
    self.seconds = seconds
  }
}
