import Cryptography
import FoundationEssentials
import Policy
import YAML

extension PolicyReader {
  // MARK: Listeners

  func listenerTLS(_ field: Field) -> ListenerTLS? {
    var pair: (certificate: Field?, key: Field?)
    var certificates: [CertificateAndKey] = []
    var namesList = false
    var tls = ListenerTLS(certificates: [])
    var authorities: Field?
    var clientCertificate: Field?
    let isMapping = fields(field.node, named: "tls", TLSKey.self) { key, field in
      switch key {
      case .certificate: pair.certificate = field
      case .privateKey: pair.key = field
      case .certificates:
        namesList = true
        certificates = list(field).compactMap(certificateItem)
        if field.node.kind == .sequence, field.node.count == 0 {
          error(.missingValue, field.node, "`certificates` is empty; name at least one or remove the key")
        }
      case .minVersion: tls.minimumVersion = choice(field, MinimumTLSVersion.self) ?? .v12
      case .ciphers: tls.ciphers = ciphers(field)
      case .clientAuthorities:
        authorities = field
        tls.clientAuthorities = certificateChain(field)
      case .clientCertificate:
        clientCertificate = field
        tls.clientCertificate = choice(field, ListenerTLS.ClientCertificate.self) ?? .require
      case .handshakeTimeout: tls.handshakeTimeout = duration(field, 100...600_000) ?? 10_000
      }
    }
    guard isMapping else { return nil }
    if let clientCertificate, authorities == nil {
      error(
        .conflict, clientCertificate.node,
        "`client_certificate` says nothing without `client_ca`; name the authorities or remove it")
    }
    if pair.certificate != nil || pair.key != nil || !namesList {
      if let first = certificateAndKey(pair.certificate, pair.key, in: field, named: "tls") {
        certificates.insert(first, at: 0)
      }
    }
    guard !certificates.isEmpty || !sources.readsSecrets else { return nil }
    tls.certificates = certificates
    return tls
  }

  private func certificateItem(_ item: Field) -> CertificateAndKey? {
    var pair: (certificate: Field?, key: Field?)
    let isMapping = fields(item.node, named: "certificate", CertificateKey.self) { key, field in
      switch key {
      case .certificate: pair.certificate = field
      case .privateKey: pair.key = field
      }
    }
    return isMapping ? certificateAndKey(pair.certificate, pair.key, in: item, named: "certificates") : nil
  }

  private func ciphers(_ field: Field) -> [CipherSuite] {
    var suites: [CipherSuite] = []
    for item in list(field, orSingle: true) {
      guard let suite = choice(item, CipherSuite.self) else { continue }
      guard !suites.contains(suite) else {
        error(.duplicateValue, item.node, "`\(suite.rawValue)` occurs twice in `ciphers`; keep one")
        continue
      }
      if !suite.isAuthenticated {
        warn(
          .weakCipher, item.node,
          "`\(suite.rawValue)` encrypts and authenticates in two steps, which attacks have used; remove it")
      }
      suites.append(suite)
    }
    return suites
  }

  // MARK: Upstream

  struct UpstreamTLSDraft {
    var authorities: CertificateChain?
    var namesAuthorities = false
    var serverName: String?
    var certificate: CertificateAndKey?
    var minimumVersion = MinimumTLSVersion.v12
  }

  func upstreamTLS(_ field: Field) -> UpstreamTLSDraft {
    var draft = UpstreamTLSDraft()
    var pair: (certificate: Field?, key: Field?)
    fields(field.node, named: "tls", UpstreamTLSKey.self) { key, field in
      switch key {
      case .authorities:
        draft.namesAuthorities = true
        draft.authorities = certificateChain(field)
      case .serverName: draft.serverName = serverName(field)
      case .certificate: pair.certificate = field
      case .privateKey: pair.key = field
      case .minVersion: draft.minimumVersion = choice(field, MinimumTLSVersion.self) ?? .v12
      }
    }
    if pair.certificate != nil || pair.key != nil {
      draft.certificate = certificateAndKey(pair.certificate, pair.key, in: field, named: "tls")
    }
    return draft
  }

  private func serverName(_ field: Field) -> String? {
    guard let text = text(field) else { return nil }
    let host = text.lowercased()
    guard let url = try? URLText(parsing: "https://" + host), url.origin.authority == host else {
      error(.invalidValue, field.node, "`server_name` cannot be \(quoted(text)); use a host name or an address")
      return nil
    }
    return url.origin.host
  }

  /// The TLS of an https upstream; `nil` for http.
  func finishUpstreamTLS(
    _ tls: (draft: UpstreamTLSDraft, field: Field)?, _ origin: Origin, _ url: Field
  ) -> UpstreamTLS? {
    guard origin.scheme == .https else {
      if let tls {
        error(.conflict, tls.field.key, "`tls` does nothing for an http upstream; use https in `url` or remove it")
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
          "no authority can vouch for `\(origin.host)`: this machine has none of its own; name a PEM file in "
            + "`tls: { ca: FILE }`")
      }
    }
    guard let authorities else { return nil }
    return UpstreamTLS(
      authorities: authorities, serverName: draft.serverName ?? origin.host, certificate: draft.certificate,
      minimumVersion: draft.minimumVersion)
  }

  // MARK: Files

  private func certificateAndKey(
    _ certificate: Field?, _ key: Field?, in place: Field, named name: String
  ) -> CertificateAndKey? {
    if certificate == nil { missing(CertificateKey.certificate, place.key, in: "`\(name)`", "the path of a PEM file") }
    if key == nil { missing(CertificateKey.privateKey, place.key, in: "`\(name)`", "the path of a PEM file") }
    guard sources.readsSecrets else { return nil }
    let chain = certificate.flatMap(certificateChain)
    let privateKey = key.flatMap(privateKey)
    guard let certificate, let key, let chain, let privateKey else { return nil }
    guard chain.belongs(to: privateKey) else {
      error(
        .invalidCertificate, key.node,
        "the key in \(quoted(key.node.text ?? "")) is not the one of the certificate in "
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
      what = "is not valid yet; does the clock tell the right time?"
    } else {
      return
    }
    warn(.certificateTime, field.node, "the certificate in \(quoted(field.node.text ?? "")) \(what)")
  }

  private func certificateChain(_ field: Field) -> CertificateChain? {
    guard let path = path(field), sources.readsSecrets else { return nil }
    let bytes: [UInt8]
    do {
      // All public authorities together are a quarter of it.
      bytes = try FileSystem.read(path, limit: 1 << 20)
    } catch {
      let advice = error == .missing ? "; create it, or name another" : ""
      self.error(.unreadableSecret, field.node, "certificate file \(quoted(path)) \(error.text)\(advice)")
      return nil
    }
    do {
      let chain = try CertificateChain(pem: bytes)
      guard chain.securityBits >= Self.securityBits else {
        error(
          .invalidCertificate, field.node, "the key of the certificate in \(quoted(path)) is too short; \(Self.keys)")
        return nil
      }
      return chain
    } catch {
      let what = error == .nothingThere ? "has no certificate in it" : "is damaged"
      self.error(.invalidCertificate, field.node, "certificate file \(quoted(path)) \(what); use PEM")
      return nil
    }
  }

  /// RFC 9325, section 4: 112 bits at least.
  private static let securityBits = 112
  private static let keys = "use ECDSA P-256, or RSA with 2048 bits or more"

  private func privateKey(_ field: Field) -> PrivateKey? {
    guard let path = path(field), let bytes = secretBytes(path, field) else { return nil }
    do {
      return try PrivateKey(pem: bytes)
    } catch {
      let what =
        switch error {
        case .nothingThere: "has no private key in it; use PEM"
        case .malformed: "is damaged; use PEM"
        case .encrypted: "is encrypted, and nobody is there to give the pass phrase; decrypt it"
        }
      self.error(.invalidCertificate, field.node, "key file \(quoted(path)) \(what)")
      return nil
    }
  }

  // MARK: Strict-Transport-Security

  func strictTransport(_ field: Field) -> StrictTransport? {
    if field.node.text == "off" { return nil }
    var strict = StrictTransport()
    guard field.node.kind == .mapping else {
      error(
        .wrongType, field.node,
        "`strict_transport_security` must be `off` or a mapping such as `{ max_age: 8760h }`")
      return strict
    }
    fields(field.node, named: field.name, StrictTransportKey.self) { key, field in
      switch key {
      case .maxAge: strict.maxAge = (duration(field, 0...Self.longestMaxAge) ?? strict.maxAge * 1_000) / 1_000
      case .includeSubdomains: strict.includesSubdomains = flag(field) ?? false
      }
    }
    return strict
  }

  /// Ten years in milliseconds: as good as for ever.
  private static let longestMaxAge = 87_600 * 3_600_000
}
