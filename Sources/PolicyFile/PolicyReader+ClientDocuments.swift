import Cryptography
import OAuth
import Policy
import YAML

/// The mapping `client_documents:`, with the fields that are checked after it has been read.
private struct ClientDocumentsDraft: SectionDraft {
  var settings = ClientDocumentSettings()
  var upstream = ClientUpstreamDraft(settings: UpstreamClient())

  /// The parser of the mapping. In each function, `$0` is the policy reader, `$1` the field, and `$2` the draft.
  static let section = Section<ClientDocumentsDraft>(
    ClientDocumentSettings.table,
    [
      "urls": { $2.settings.urls = $0.documentURLs($1) },
      "scopes": { $2.settings.rules.scopes = $0.scopeTexts($1) },
      "resources": { $2.settings.rules.resources = $0.resourceNames($1) },
      "redirects": { $2.settings.rules.redirects = $0.unlistedRedirects($1) },
      "upstream": { $0.readUpstream($1, of: &$2.upstream) },
      "ca": { $2.settings.authorities = $0.certificateChain($1) },
      "deny": { $2.settings.rules.denied = $0.denyList($1) },
    ])
}

extension PolicyReader {
  /// Reads `client_documents:`, after `enforcement:`, whose rules apply to these clients.
  func readClientDocuments(_ field: Field) {
    var draft = ClientDocumentsDraft()
    guard let fields = read(field.node, ClientDocumentsDraft.section, into: &draft) else { return }
    requireSettings(of: ClientDocumentsDraft.section, in: fields, field.key, named: "`client_documents`")
    var settings = draft.settings
    settings.rules.enforcement = enforcement.defaults
    settings.rules.upstream = draft.upstream.settings(for: ClientID(""), authentication: defaultAuthentication)
    // The server does not know the redirect URIs of these clients.
    if draft.upstream.redirectURI == nil { settings.rules.upstream.redirectURI = .callback }
    lint(settings, draft.upstream, fields)
    lintDroppedScopes(settings.rules, fields["scopes"], of: "client_documents")
    if let field = fields["urls"] { lintRegisteredHosts(settings, field) }
    if settings.authorities == nil, fields["ca"] == nil {
      settings.authorities = documentAuthorities()
      if settings.authorities == nil, sources.readsSecrets {
        error(
          .unreadableSecret, field.key,
          "the servers of the documents cannot be verified: this machine has no authorities; name a PEM file in `ca`")
      }
    }
    clientDocuments = settings
  }

  private func lint(_ settings: ClientDocumentSettings, _ draft: ClientUpstreamDraft, _ fields: Fields) {
    if let node = fields["upstream"]?.node {
      if draft.id == nil {
        reportMissing("client_id", node, in: "`upstream` of `client_documents`", "the id of the gateway at the server")
      }
      if case .requested? = draft.redirectURI {
        error(
          .conflict, node, "the server does not know the redirect URIs of these clients; use `redirect_uri: callback`")
      }
    }
    if settings.permitsLoopback, let node = fields["allow_loopback"]?.node, gateway?.origin.isLoopback == false {
      error(
        .conflict, node,
        "`allow_loopback` lets any program reach the services of this machine through the gateway; it is only for a "
          + "`gateway.origin` on loopback")
    }
  }

  /// Reports hosts from which programs may register, but whose documents are not listed. Once the metadata document offers
  /// client documents, a program that has one sends its URL, and does not register if the URL is refused.
  private func lintRegisteredHosts(_ settings: ClientDocumentSettings, _ field: Field) {
    guard let redirects = registration?.rules.redirects else { return }
    let missing = settings.undocumentedHosts(of: redirects)
    guard !missing.isEmpty else { return }
    note(
      .registeredHost, field.node,
      "`registration.redirects.https` has \(missing.map { quoted($0) }.joined(separator: ", ")), and `urls` no document "
        + "there; a program that has a document sends its URL instead of registering, and is refused: add its URL, or "
        + "`known`")
  }

  /// Returns the authorities in the file that `SSL_CERT_FILE` names, as other programs do; otherwise those of the
  /// machine.
  private func documentAuthorities() -> CertificateChain? {
    guard let path = environment["SSL_CERT_FILE"], !path.isEmpty else { return systemAuthorities() }
    guard let bytes = try? FileSystem.read(path, limit: 4 << 20) else { return nil }
    return try? CertificateChain(pem: bytes)
  }

  /// Reads URLs of documents and prefixes of such URLs.
  fileprivate func documentURLs(_ field: Field) -> [String] {
    var urls: [String] = []
    for item in list(field, allowsSingleValue: true) {
      guard let text = text(item) else { continue }
      if text == "known" {
        urls += ClientDocumentSettings.known.map(\.1)
        continue
      }
      guard let url = ClientDocumentURL(parsing: text) else {
        error(
          .invalidValue, item.node,
          "`\(field.name)` cannot hold \(quoted(text)); use an https URL with a path such as "
            + "`https://app.example/oauth/client.json`, a prefix that ends with a slash, or `known`")
        continue
      }
      if url.path == "/" {
        warn(
          .documentHost, item.node,
          "\(quoted(text)) permits every document of the host, also those that its users may publish; name a URL or a "
            + "path")
      }
      urls.append(text)
    }
    if urls.count > ClientDocumentSettings.maximumURLs {
      error(
        .invalidValue, field.node,
        "`\(field.name)` has \(urls.count) URLs; use at most \(ClientDocumentSettings.maximumURLs)")
    }
    return urls
  }
}
