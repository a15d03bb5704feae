import Cryptography
import Gateway
import HTTP
import Time

/// The messages about the certificates that the gateway presents, for the start of the gateway and for a reload.
struct CertificateReport {
  /// One line for each new certificate. A certificate on a listener is new if the gateway did not present it on this
  /// listener before the reload. A certificate for the upstream is new if the gateway did not present it to the
  /// upstream before.
  let lines: [String]
  /// The number of certificates and the number of new certificates, as a part of the last message of a reload; empty if
  /// the gateway presents no certificate.
  let summary: String

  /// - Parameter previous: The certificates before the reload; empty at the start.
  init(_ served: [ServedCertificate], previous: [ServedCertificate]) {
    let known = Set(previous.map(CertificateReport.key))
    let new = served.filter { !known.contains(CertificateReport.key($0)) }
    lines = new.map(CertificateReport.line)
    let count = "\(served.count) certificate\(served.count == 1 ? "" : "s")"
    summary = served.isEmpty ? "" : " and \(count) (\(new.count) new)"
  }

  private static func key(_ certificate: ServedCertificate) -> [String] {
    [certificate.presentedOn, certificate.chain.fingerprint]
  }

  private static func line(_ certificate: ServedCertificate) -> String {
    let chain = certificate.chain
    // The issuer of the certificate chooses the names, so `printable` replaces unexpected characters.
    let names = chain.hostNames
    let firstNames = names.prefix(3).map(printable).joined(separator: ", ")
    let others = names.count > 3 ? " and \(names.count - 3) more" : ""
    let hosts = names.isEmpty ? "" : " for \(firstNames)\(others)"
    let end = HTTPDate.format(max(0, chain.validity.upperBound))
    let subject = chain.subject.isEmpty ? "without subject" : chain.subject
    let peer = certificate.presentedOn == "upstream" ? "to the upstream" : "on \(certificate.presentedOn)"
    return "certificate \(peer): \(subject)\(hosts), until \(end), SHA-256 \(chain.fingerprint)"
  }

  /// Replaces all characters except printable ASCII by `?`.
  private static func printable(_ name: String) -> String {
    String(String.UnicodeScalarView(name.unicodeScalars.map { (" "..."~").contains($0) ? $0 : "?" }))
  }
}
