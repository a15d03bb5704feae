import OAuth
import Policy
import Time
import YAML

/// The mapping `registration:`, with the fields that are checked after it has been read.
private struct RegistrationDraft: SectionDraft {
  var settings = RegistrationSettings()
  var upstream = ClientUpstreamDraft(settings: UpstreamClient())

  /// The parser of the mapping. In each function, `$0` is the policy reader, `$1` the field, and `$2` the draft.
  static let section = Section<RegistrationDraft>(
    RegistrationSettings.table,
    [
      "path": { if let path = $0.paths($1).first { $2.settings.path = path } },
      "scopes": { $2.settings.rules.scopes = $0.scopeTexts($1) },
      "resources": { $2.settings.rules.resources = $0.resourceNames($1) },
      "redirects": { $2.settings.rules.redirects = $0.unlistedRedirects($1) },
      "upstream": { $0.readUpstream($1, of: &$2.upstream) },
      "initial_access_token": { $2.settings.initialAccessToken = $0.secret($1) },
      "deny": { $2.settings.rules.denied = $0.denyList($1) },
    ])
}

extension UnlistedRedirects: SectionDraft {
  fileprivate static let section = Section<UnlistedRedirects>(
    table,
    [
      "https": {
        if $1.node.text == "any" { $2.anyHost = true } else { $2.hosts = $0.hosts($1) }
      },
      "schemes": {
        if $1.node.text == "any" { $2.anyScheme = true } else { $2.schemes = $0.privateSchemes($1, warns: true) }
      },
    ])
}

extension ClientDenyList: SectionDraft {
  fileprivate static let section = Section<ClientDenyList>(
    table,
    [
      "ids": { $2.ids = Set($0.texts($1)) },
      "hosts": { $2.hosts = $0.hosts($1) },
      "schemes": { $2.schemes = $0.privateSchemes($1, warns: false) },
      "names": { $2.names = $0.namePatterns($1) },
    ])
}

extension PolicyReader {
  /// Reads the names of resources that unlisted clients may request. `checkResourceNames` compares them with
  /// `resources:`, which is read later.
  func resourceNames(_ field: Field) -> [String] {
    let items = list(field, allowsSingleValue: true)
    let names = items.compactMap { text($0) }
    for item in items { if let name = item.node.text { resourceNames.append((name, item.node)) } }
    return names
  }

  /// Reports the names of resources for unlisted clients that `resources:` does not have.
  func checkResourceNames() {
    let known = Set(resources.map(\.uri.text))
    for (name, node) in resourceNames where !known.contains(name) {
      error(.invalidValue, node, "no entry of `resources` has the `uri` \(quoted(name)); add one or correct the name")
    }
  }

  /// Reads `registration:`, after `enforcement:`, whose rules apply to registered clients.
  func readRegistration(_ field: Field) {
    var draft = RegistrationDraft()
    guard let fields = read(field.node, RegistrationDraft.section, into: &draft) else { return }
    requireSettings(of: RegistrationDraft.section, in: fields, field.key, named: "`registration`")
    var settings = draft.settings
    settings.rules.enforcement = enforcement.defaults
    settings.rules.upstream = draft.upstream.settings(for: ClientID(""), authentication: defaultAuthentication)
    // The server does not know the redirect URIs of registered clients.
    if draft.upstream.redirectURI == nil { settings.rules.upstream.redirectURI = .callback }
    lint(settings, draft.upstream, fields)
    lintDroppedScopes(settings.rules, fields["scopes"], of: "registration")
    registration = settings
  }

  private func lint(_ settings: RegistrationSettings, _ draft: ClientUpstreamDraft, _ fields: Fields) {
    if let node = fields["upstream"]?.node {
      if draft.id == nil {
        reportMissing("client_id", node, in: "`upstream` of `registration`", "the id of the gateway at the server")
      }
      if case .requested? = draft.redirectURI {
        error(
          .conflict, node,
          "the server does not know the redirect URIs of registered clients; use `redirect_uri: callback`")
      }
    }
    if let secret = settings.initialAccessToken, let node = fields["initial_access_token"]?.node {
      let bits = SecretStrength.bits(of: secret)
      if bits < SecretStrength.requiredBits {
        error(
          .weakSecret, node,
          "the `initial_access_token` has at most \(Int(bits)) bits and could be guessed; use 128 random bits, such as "
            + "32 hexadecimal digits of `openssl rand -hex 16`")
      }
    }
    let endpoints = upstream?.endpoints
    let taken =
      (endpoints?.authorization ?? []) + (endpoints?.token ?? []) + (endpoints?.revocation ?? [])
      + (endpoints?.introspection ?? []) + (endpoints?.pushedAuthorization ?? [])
    if taken.contains(settings.path), let node = fields["path"]?.node {
      error(.duplicateValue, node, "path \(quoted(settings.path)) is another endpoint; a path is one endpoint")
    }
  }

  func readUpstream(_ field: Field, of draft: inout ClientUpstreamDraft) {
    draft.fields = read(field.node, ClientUpstreamDraft.section, named: "upstream", into: &draft) ?? Fields()
  }

  /// Reads the scope tokens that unlisted clients may request. `checkResourceScopes` compares them with `resources:`.
  func scopeTexts(_ field: Field) -> [String] {
    let tokens = scopeTokens(field).map(\.text)
    unlistedScopes += tokens.map { ($0, field.node) }
    reportEmpty(field)
    return tokens
  }

  /// Reads the redirect URIs that clients may have which the policy does not list.
  func unlistedRedirects(_ field: Field) -> UnlistedRedirects {
    var redirects = UnlistedRedirects()
    let fields = read(field.node, UnlistedRedirects.section, named: field.name, into: &redirects)
    if let node = fields?["https"]?.node, let own = gateway?.hosts {
      for host in redirects.hosts where own.contains(host) {
        error(
          .conflict, node,
          "`https` cannot hold \(quoted(host)), a host of the gateway: codes would reach its own pages; list such a "
            + "client in `clients`")
      }
    }
    guard let node = fields?["localhost"]?.node else { return redirects }
    switch redirects.localhost {
    case .anyPort:
      warn(
        .localhostAnyPort, node,
        "`localhost: any_port` ignores also the port that an app has registered; use `portless`")
    case .exact:
      note(
        .localhostRedirect, node,
        "`localhost: exact` refuses each app that registers a `localhost` URI without a port and then listens on one, "
          + "as many command-line apps do; `portless` permits them")
    case .portless, .reject, nil: break
    }
    return redirects
  }

  /// Reads a list of denied clients.
  func denyList(_ field: Field) -> ClientDenyList {
    var list = ClientDenyList()
    read(field.node, ClientDenyList.section, named: field.name, into: &list)
    return list
  }

  /// Reads the texts of a list.
  func texts(_ field: Field) -> [String] {
    list(field, allowsSingleValue: true).compactMap { text($0) }
  }

  /// Reads patterns for the names of clients.
  func namePatterns(_ field: Field) -> [String] {
    list(field, allowsSingleValue: true).compactMap { item in
      guard let text = text(item) else { return nil }
      guard !ClientDenyList.matchesEveryName(text) else {
        error(
          .invalidValue, item.node,
          "`\(field.name)` cannot hold \(quoted(text)), because quotation marks and accents are not compared; use `*` to "
            + "match every name")
        return nil
      }
      return text
    }
  }

  /// Reads host names, each with or without a period at its beginning. A name with characters outside ASCII must be
  /// written as its A-label.
  func hosts(_ field: Field) -> [String] {
    list(field, allowsSingleValue: true).compactMap { item in
      guard let text = text(item) else { return nil }
      let name = text.hasPrefix(".") ? String(text.dropFirst()) : text
      guard case .https(let host)? = (try? RedirectURI(parsing: "https://\(name)/"))?.kind, host == name,
        name == name.lowercased()
      else {
        error(
          .invalidValue, item.node,
          "`\(field.name)` cannot hold \(quoted(text)); use host names in lower case such as `example.com`, or "
            + "`.example.com` for its subdomains")
        return nil
      }
      return text
    }
  }

  /// Reads private-use schemes.
  ///
  /// - Parameter warns: True to report a scheme without a period, which any program could use by accident.
  func privateSchemes(_ field: Field, warns: Bool) -> [String] {
    list(field, allowsSingleValue: true).compactMap { item in
      guard let text = text(item) else { return nil }
      if text == "msapp" { return text }
      guard let uri = try? RedirectURI(parsing: text + ":/"), uri.privateUseScheme == text else {
        error(
          .invalidValue, item.node,
          "`\(field.name)` cannot hold \(quoted(text)); use private-use schemes such as `com.example.app`")
        return nil
      }
      if warns, uri.schemeProblem(.minimum) != nil {
        warn(
          .schemeNotReversed, item.node,
          "scheme \(quoted(text)) has no period, so another app may use it too; remove it unless users need the app")
      }
      return text
    }
  }
}
