import Cryptography
import FoundationEssentials
import Policy
import YAML

extension ListenerTLS: SectionDraft {
  /// The parser of the mapping. In each function, `$0` is the policy reader, `$1` the field, and `$2` the draft.
  fileprivate static let section = Section<ListenerTLS>(
    table,
    [
      // `listenerTLS(_:)` reads the certificate and the key together, after the whole mapping.
      "certificate": { _, _, _ in }, "private_key": { _, _, _ in },
      "certificates": { $2.certificates = $0.certificates($1) },
      "ciphers": { $2.ciphers = $0.ciphers($1) },
      "client_ca": { $2.clientAuthorities = $0.certificateChain($1) },
    ])
}

/// An item of `certificates`.
struct CertificateDraft: SectionDraft {
  var certificate: Field?
  var key: Field?

  static let table = SettingTable<CertificateDraft>(
    "certificate", "A certificate and its key.",
    [
      .customReader(
        "certificate", .text("file name"), "PEM file with the certificate and the chain behind it",
        adviceIfMissing: "the path of a PEM file"),
      .customReader(
        "private_key", .text("file name"), "PEM file with its key, not encrypted",
        adviceIfMissing: "the path of a PEM file"),
    ]
  ) { CertificateDraft() }

  fileprivate static let section = Section<CertificateDraft>(
    table, ["certificate": { $2.certificate = $1 }, "private_key": { $2.key = $1 }])
}

/// The mapping `tls:` of `upstream:`, before its defaults are filled in.
struct UpstreamTLSDraft: SectionDraft {
  var authorities: CertificateChain?
  /// True if the mapping has `ca`, even if the file cannot be read.
  var namesAuthorities = false
  var serverName: String?
  var certificate: CertificateAndKey?
  var minimumVersion = MinimumTLSVersion.v12

  static let table = SettingTable<UpstreamTLSDraft>(
    "upstream_tls", "TLS towards an https upstream. Its certificate is always verified.",
    [
      .customReader(
        "ca", .text("file name"),
        "PEM file with the authorities that may issue the server's certificate; all others are untrusted then",
        default: "those of the machine"),
      .customReader(
        "server_name", .text("host"), "The host name or address that the certificate must contain, also sent as SNI",
        default: "the host of `url`"),
      .customReader(
        "certificate", .text("file name"),
        "PEM file with the certificate that the gateway presents if the upstream requests one",
        default: "none"),
      .customReader("private_key", .text("file name"), "PEM file with its key, not encrypted", default: "none"),
      .choice("min_version", \.minimumVersion, "The oldest version that the gateway accepts"),
    ]
  ) { UpstreamTLSDraft() }

  fileprivate static let section = Section<UpstreamTLSDraft>(
    table,
    [
      "ca": {
        $2.namesAuthorities = true
        $2.authorities = $0.certificateChain($1)
      },
      "server_name": { $2.serverName = $0.serverName($1) },
      // `upstreamTLS(_:)` reads the certificate and the key together, after the whole mapping.
      "certificate": { _, _, _ in }, "private_key": { _, _, _ in },
    ])
}

extension StrictTransport: SectionDraft {
  fileprivate static let section = Section<StrictTransport>(table)
}

extension PolicyReader {
  // MARK: Listeners

  func listenerTLS(_ field: Field) -> ListenerTLS? {
    var tls = ListenerTLS(certificates: [])
    guard let fields = read(field.node, ListenerTLS.section, into: &tls) else { return nil }
    if let certificate = fields["client_certificate"], fields["client_ca"] == nil {
      error(
        .conflict, certificate.node,
        "`client_certificate` has no effect without `client_ca`; name the authorities or remove it")
    }
    let (certificate, key) = (fields["certificate"], fields["private_key"])
    if certificate != nil || key != nil || fields["certificates"] == nil {
      if let first = certificateAndKey(certificate, key, in: field, named: "tls") {
        tls.certificates.insert(first, at: 0)
      }
    }
    // If secrets are not read, no certificate is read either, and the listener must not become a plaintext listener.
    return tls.certificates.isEmpty && sources.readsSecrets ? nil : tls
  }

  fileprivate func certificates(_ field: Field) -> [CertificateAndKey] {
    reportEmpty(field)
    return list(field).compactMap { item in
      var draft = CertificateDraft()
      guard read(item.node, CertificateDraft.section, into: &draft) != nil else { return nil }
      return certificateAndKey(draft.certificate, draft.key, in: item, named: "certificates")
    }
  }

  fileprivate func ciphers(_ field: Field) -> [CipherSuite] {
    var suites: [CipherSuite] = []
    for item in list(field, allowsSingleValue: true) {
      guard let suite = choice(item, CipherSuite.self) else { continue }
      guard !suites.contains(suite) else {
        error(.duplicateValue, item.node, "`\(suite.rawValue)` occurs twice in `ciphers`; keep one")
        continue
      }
      if !suite.isAEAD {
        warn(
          .weakCipher, item.node,
          "`\(suite.rawValue)` encrypts and authenticates in two steps, which attacks have used; remove it")
      }
      suites.append(suite)
    }
    return suites
  }

  // MARK: Upstream

  func upstreamTLS(_ field: Field) -> UpstreamTLSDraft {
    var draft = UpstreamTLSDraft()
    guard let fields = read(field.node, UpstreamTLSDraft.section, named: "tls", into: &draft) else { return draft }
    let (certificate, key) = (fields["certificate"], fields["private_key"])
    if certificate != nil || key != nil {
      draft.certificate = certificateAndKey(certificate, key, in: field, named: "tls")
    }
    return draft
  }

  fileprivate func serverName(_ field: Field) -> String? {
    guard let text = text(field) else { return nil }
    let host = text.lowercased()
    guard let url = try? URLText(parsing: "https://" + host), url.origin.authority == host else {
      error(.invalidValue, field.node, "`server_name` cannot be \(quoted(text)); use a host name or an address")
      return nil
    }
    return url.origin.host
  }

  /// Returns the TLS settings of an https upstream; `nil` for an http upstream. Also `nil`, after an error report, if
  /// there are no authorities that can verify the upstream.
  ///
  /// - Parameters:
  ///   - tls: The mapping `tls:` of `upstream:`; `nil` if the policy does not have it.
  ///   - url: The setting `url` of `upstream:`, where missing authorities are reported.
  func finishUpstreamTLS(
    _ tls: (draft: UpstreamTLSDraft, field: Field)?, _ origin: Origin, _ url: Field
  ) -> UpstreamTLS? {
    guard origin.scheme == .https else {
      if let tls {
        error(.conflict, tls.field.key, "`tls` has no effect for an http upstream; use https in `url` or remove it")
      }
      return nil
    }
    let draft = tls?.draft ?? UpstreamTLSDraft()
    var authorities = draft.authorities
    if authorities == nil, !draft.namesAuthorities {
      authorities = systemAuthorities()
      if authorities == nil {
        error(
          .upstreamAuthority, url.node,
          "the certificate of `\(origin.host)` cannot be verified: this machine has no authorities; name a PEM file in "
            + "`tls: { ca: FILE }`")
      }
    }
    guard let authorities else { return nil }
    return UpstreamTLS(
      authorities: authorities, serverName: draft.serverName ?? origin.host, certificate: draft.certificate,
      minimumVersion: draft.minimumVersion)
  }

  // MARK: Files

  /// Reads a certificate and its key, and reports a missing setting and a key that does not belong to the certificate.
  ///
  /// - Parameters:
  ///   - mapping: The mapping that contains the two settings.
  ///   - name: The name of the mapping in messages.
  private func certificateAndKey(
    _ certificate: Field?, _ key: Field?, in mapping: Field, named name: String
  ) -> CertificateAndKey? {
    if certificate == nil { reportMissing("certificate", mapping.key, in: "`\(name)`", "the path of a PEM file") }
    if key == nil { reportMissing("private_key", mapping.key, in: "`\(name)`", "the path of a PEM file") }
    guard sources.readsSecrets else { return nil }
    let chain = certificate.flatMap(certificateChain)
    let privateKey = key.flatMap(privateKey)
    guard let certificate, let key, let chain, let privateKey else { return nil }
    guard chain.belongs(to: privateKey) else {
      error(
        .invalidCertificate, key.node,
        "the key in \(quoted(key.node.text ?? "")) does not belong to the certificate in "
          + "\(quoted(certificate.node.text ?? "")); name the file that came with it")
      return nil
    }
    checkTime(chain, certificate)
    return CertificateAndKey(chain: chain, key: privateKey)
  }

  private func checkTime(_ chain: CertificateChain, _ field: Field) {
    let what: String
    if now > chain.validity.upperBound {
      what = "has expired; renew it"
    } else if now < chain.validity.lowerBound {
      what = "is not valid yet; check the clock of this machine"
    } else {
      return
    }
    warn(.certificateTime, field.node, "the certificate in \(quoted(field.node.text ?? "")) \(what)")
  }

  /// Reads a PEM file with certificates.
  func certificateChain(_ field: Field) -> CertificateChain? {
    guard let path = path(field), sources.readsSecrets else { return nil }
    contentFiles.append(path)
    let bytes: [UInt8]
    do {
      // The limit is about four times the size of the certificates of all public authorities together.
      bytes = try FileSystem.read(path, limit: 1 << 20)
    } catch {
      let advice = error == .missing ? "create it, or name another" : error.advice
      self.error(.unreadableSecret, field.node, "certificate file \(quoted(path)) \(error.text); \(advice)")
      return nil
    }
    do {
      let chain = try CertificateChain(pem: bytes)
      guard chain.securityBits >= Self.minimumSecurityBits else {
        error(
          .invalidCertificate, field.node,
          "the key of the certificate in \(quoted(path)) is too short; \(Self.keyAdvice)")
        return nil
      }
      return chain
    } catch {
      let what = error == .notFound ? "has no certificate in it" : "is damaged"
      self.error(.invalidCertificate, field.node, "certificate file \(quoted(path)) \(what); use PEM")
      return nil
    }
  }

  /// The minimum strength of a key in bits (RFC 9325, section 4).
  private static let minimumSecurityBits = 112
  private static let keyAdvice = "use ECDSA P-256, or RSA with 2048 bits or more"

  private func privateKey(_ field: Field) -> PrivateKey? {
    guard let path = path(field), let bytes = secretBytes(path, field) else { return nil }
    do {
      return try PrivateKey(pem: bytes)
    } catch {
      let what =
        switch error {
        case .notFound: "has no private key in it; use PEM"
        case .malformed: "is damaged; use PEM"
        case .encrypted: "is encrypted, and the gateway cannot ask for the pass phrase; decrypt it"
        }
      self.error(.invalidCertificate, field.node, "key file \(quoted(path)) \(what)")
      return nil
    }
  }

  // MARK: Strict-Transport-Security

  /// Reads `strict_transport_security:`; `nil` for `off`.
  func strictTransport(_ field: Field) -> StrictTransport? {
    if field.node.text == "off" { return nil }
    var strict = StrictTransport()
    guard field.node.kind == .mapping else {
      error(
        .wrongType, field.node,
        "`strict_transport_security` must be `off` or a mapping such as `{ max_age: 8760h }`")
      return strict
    }
    read(field.node, StrictTransport.section, into: &strict)
    return strict
  }
}
