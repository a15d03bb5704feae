import Cryptography
import Gateway
import HTTP

/// The messages about the certificates that the gateway presents: at the start, and when a reload changes them.
struct CertificateReport {
  /// One line for each certificate that is new on its listener, or new for the upstream.
  let lines: [String]
  /// The number of certificates and the number of new ones, for the last message of a reload; empty if there are none.
  let summary: String

  /// - Parameter before: The certificates before the reload; empty at the start.
  init(_ served: [ServedCertificate], before: [ServedCertificate]) {
    let known = Set(before.map(CertificateReport.key))
    let fresh = served.filter { !known.contains(CertificateReport.key($0)) }
    lines = fresh.map(CertificateReport.line)
    let count = "\(served.count) certificate\(served.count == 1 ? "" : "s")"
    summary = served.isEmpty ? "" : " and \(count) (\(fresh.count) new)"
  }

  private static func key(_ certificate: ServedCertificate) -> [String] {
    [certificate.place, certificate.chain.fingerprint]
  }

  private static func line(_ certificate: ServedCertificate) -> String {
    let chain = certificate.chain
    // The issuer of the certificate chooses the names, so other characters than printable ASCII are replaced.
    let names = chain.hostNames
    let shown = names.prefix(3).map(printable).joined(separator: ", ")
    let rest = names.count > 3 ? " and \(names.count - 3) more" : ""
    let whom = names.isEmpty ? "" : " for \(shown)\(rest)"
    let end = HTTPDate.format(max(0, chain.validity.upperBound))
    let subject = chain.subject.isEmpty ? "without subject" : chain.subject
    let place = certificate.place == "upstream" ? "to the upstream" : "on \(certificate.place)"
    return "certificate \(place): \(subject)\(whom), until \(end), SHA-256 \(chain.fingerprint)"
  }

  private static func printable(_ name: String) -> String {
    String(String.UnicodeScalarView(name.unicodeScalars.map { (" "..."~").contains($0) ? $0 : "?" }))
  }
}
