import TLSTestSupport
import Testing

@testable import PolicyFile

/// Certificates and keys, under the names that the policies of tests use.
enum TLSFiles {
  static let all = Result {
    var files: [String: String] = ["broken.pem": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"]
    let names = [
      "gateway.pem", "gateway.key", "other.pem", "other.key", "client.pem", "client.key", "client-ca.pem",
      "server-ca.pem", "expired.pem", "weak.pem", "weak.key", "encrypted.key",
    ]
    for name in names { files[name] = String(decoding: try TestCertificates.bytes(name), as: UTF8.self) }
    return files
  }
}

@Suite("Findings about TLS")
struct TLSFindings {
  @Test("One finding, in its words and at its place", arguments: cases)
  func finding(_ finding: FindingCase) throws {
    _ = try TLSFiles.all.get()
    try finding.check()
  }

  @Test("Valid TLS settings have no finding")
  func inOrder() throws {
    let finding = Self.listener(.certificateTime, "", "certificate: gateway.pem, private_key: gateway.key", "")
    #expect(try finding.load().text == "")
    let upstream = Self.upstream(.upstreamAuthority, "", "tls: { ca: server-ca.pem }", "")
    #expect(try upstream.load().text == "")
  }

  private static func listener(
    _ id: DiagnosticID, _ title: String, _ tls: String, _ expected: String
  ) -> FindingCase {
    FindingCase(
      id, title,
      edits: [
        ("listeners: [{ address: 127.0.0.1:8080 }]", "listeners:\n    - address: 127.0.0.1:8443\n      tls: { \(tls) }")
      ], files: (try? TLSFiles.all.get()) ?? [:], expected: expected)
  }

  private static func upstream(
    _ id: DiagnosticID, _ title: String, url: String = "https://legacy.example.com", _ tls: String, _ expected: String
  ) -> FindingCase {
    FindingCase(
      id, title, edits: [("url: http://127.0.0.1:9000", "url: \(url)\n  \(tls)")],
      files: (try? TLSFiles.all.get()) ?? [:], expected: expected)
  }

  static let cases: [FindingCase] = [
    listener(
      .invalidCertificate, "A key of another certificate", "certificate: gateway.pem, private_key: client.key",
      """
      policy.yaml:6:53: error: the key in `client.key` does not belong to the certificate in `gateway.pem`; name the \
      file that came with it
      """),
    listener(
      .invalidCertificate, "An encrypted key", "certificate: gateway.pem, private_key: encrypted.key",
      """
      policy.yaml:6:53: error: key file `encrypted.key` is encrypted, and the gateway cannot ask for the pass phrase; \
      decrypt it
      """),
    listener(
      .invalidCertificate, "Files that are something else", "certificate: gateway.key, private_key: gateway.pem",
      """
      policy.yaml:6:27: error: certificate file `gateway.key` has no certificate in it; use PEM
      policy.yaml:6:53: error: key file `gateway.pem` has no private key in it; use PEM
      """),
    listener(
      .invalidCertificate, "A damaged certificate", "certificate: broken.pem, private_key: gateway.key",
      """
      policy.yaml:6:27: error: certificate file `broken.pem` is damaged; use PEM
      """),
    listener(
      .invalidCertificate, "A key that is too short", "certificate: weak.pem, private_key: weak.key",
      """
      policy.yaml:6:27: error: the key of the certificate in `weak.pem` is too short; use ECDSA P-256, or RSA \
      with 2048 bits or more
      """),
    listener(
      .unreadableSecret, "Files that do not exist", "certificate: gone.pem, private_key: gone.key",
      """
      policy.yaml:6:27: error: certificate file `gone.pem` does not exist; create it, or name another
      policy.yaml:6:50: error: secret file `gone.key` does not exist; create it, or name another
      """),
    listener(
      .missingKey, "A certificate without its key", "certificate: gateway.pem",
      """
      policy.yaml:6:7: error: `tls` has no `private_key`; add the path of a PEM file
      """),
    listener(
      .missingValue, "No certificate in the list", "certificates: []",
      """
      policy.yaml:6:28: error: `certificates` is empty; name at least one or remove the key
      """),
    listener(
      .conflict, "Clients' certificates that nobody vouches for",
      "certificate: gateway.pem, private_key: gateway.key, client_certificate: require",
      """
      policy.yaml:6:86: error: `client_certificate` has no effect without `client_ca`; name the authorities or remove it
      """),
    listener(
      .invalidValue, "A version that is broken",
      "certificate: gateway.pem, private_key: gateway.key, min_version: 1.1",
      """
      policy.yaml:6:79: error: `min_version` cannot be `1.1`; did you mean `1.2`?
      """),
    listener(
      .certificateTime, "An expired certificate", "certificate: expired.pem, private_key: gateway.key",
      """
      policy.yaml:6:27: warning: the certificate in `expired.pem` has expired; renew it [certificate-time]
      """),
    listener(
      .weakCipher, "A suite with CBC",
      "certificate: gateway.pem, private_key: gateway.key, ciphers: [ECDHE-ECDSA-AES128-SHA256]",
      """
      policy.yaml:6:76: warning: `ECDHE-ECDSA-AES128-SHA256` encrypts and authenticates in two steps, which \
      attacks have used; remove it (RFC 9325, section 4.2) [weak-cipher]
      """),
    FindingCase(
      .strictTransportOff, "No Strict-Transport-Security",
      edits: [
        (
          "listeners: [{ address: 127.0.0.1:8080 }]",
          "listeners: [{ address: 127.0.0.1:8443, tls: { certificate: gateway.pem, private_key: gateway.key } }]\n"
            + "  strict_transport_security: off"
        )
      ], files: (try? TLSFiles.all.get()) ?? [:],
      expected: """
        policy.yaml:5:30: warning: `strict_transport_security: off` lets an attacker on the network lead browsers to \
        plain http; remove it (RFC 9325, section 3.2) [strict-transport-off]
        """),
    upstream(
      .conflict, "TLS of a plaintext upstream", url: "http://127.0.0.1:9000", "tls: { ca: server-ca.pem }",
      """
      policy.yaml:8:3: error: `tls` has no effect for an http upstream; use https in `url` or remove it
      """),
    upstream(
      .missingKey, "TLS over a Unix socket without a name", url: "unix:/run/legacy.sock", "tls: { ca: server-ca.pem }",
      """
      policy.yaml:8:3: error: `tls` has no `server_name`; add the name in the server's certificate
      """),
    upstream(
      .upstreamAuthority, "A machine without authorities", "max_connections: 9",
      """
      policy.yaml:7:8: error: the certificate of `legacy.example.com` cannot be verified: this machine has no \
      authorities; name a PEM file in `tls: { ca: FILE }` (RFC 9700, section 4.13) [upstream-ca]
      """),
    upstream(
      .invalidCertificate, "Authorities that are none", "tls: { ca: keys }",
      """
      policy.yaml:8:14: error: certificate file `keys` has no certificate in it; use PEM
      """),
    upstream(
      .invalidValue, "A server name that is none", "tls: { ca: server-ca.pem, server_name: 'a b' }",
      """
      policy.yaml:8:42: error: `server_name` cannot be `a b`; use a host name or an address
      """),
    upstream(
      .missingKey, "A certificate of the gateway's without its key",
      "tls: { ca: server-ca.pem, certificate: client.pem }",
      """
      policy.yaml:8:3: error: `tls` has no `private_key`; add the path of a PEM file
      """),
  ]
}
