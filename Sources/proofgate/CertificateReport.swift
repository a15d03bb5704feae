import Cryptography
import Gateway
import HTTP

/// What the operator is told of the certificates that are shown, at the start and when a reload brings others.
struct CertificateReport {
  /// One line for each that was not shown at its place before.
  let lines: [String]
  /// How many there are and how many of them are new, for the line that ends a reload; empty where there are none.
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
    // Names are what somebody wrote into a certificate; the log shows a line of it.
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
