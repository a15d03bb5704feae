import Cryptography
import Gateway
import HTTP

/// The messages about the certificates that the gateway shows, at the start and when a reload brings other ones.
struct CertificateReport {
  /// One line for each certificate that was not shown at its place before.
  let lines: [String]
  /// The number of certificates and of new ones, for the line that ends a reload; empty if there is no certificate.
  let summary: String

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
    // Names come from the certificate's author, so the log shows only printable ASCII of them, on one line.
    let names = chain.hostNames
    let shown = names.prefix(3).map(printable).joined(separator: ", ")
    let rest = names.count > 3 ? " and \(names.count - 3) more" : ""
    let whom = names.isEmpty ? "" : " for \(shown)\(rest)"
    let end = HTTPDate.format(Int(max(0, chain.validity.upperBound)))
    let subject = chain.subject.isEmpty ? "without subject" : chain.subject
    let place = certificate.place == "upstream" ? "to the upstream" : "on \(certificate.place)"
    return "certificate \(place): \(subject)\(whom), until \(end), SHA-256 \(chain.fingerprint)"
  }

  private static func printable(_ name: String) -> String {
    String(String.UnicodeScalarView(name.unicodeScalars.map { (" "..."~").contains($0) ? $0 : "?" }))
  }
}
