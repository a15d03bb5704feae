import OAuth
import Policy
import YAML

/// The mapping `resources[]`, before its settings are compared with each other.
private struct ResourceDraft: SectionDraft {
  var settings = ResourceSettings()
  var hasURI = false
  /// The identifier and the aliases, with their locations.
  var names: [(uri: ResourceURI, node: YAMLNode)] = []

  /// The parser of the mapping. In each function, `$0` is the policy reader, `$1` the field, and `$2` the draft.
  static let section = Section<ResourceDraft>(
    ResourceSettings.table,
    [
      "uri": { reader, field, draft in
        guard let uri = reader.resourceURI(field) else { return }
        draft.settings.uri = uri
        draft.hasURI = true
        draft.names.append((uri, field.node))
      },
      "aliases": { reader, field, draft in
        for item in reader.list(field, allowsSingleValue: true) {
          guard let uri = reader.resourceURI(item) else { continue }
          draft.settings.aliases.append(uri)
          draft.names.append((uri, item.node))
        }
      },
      "scopes": { $2.settings.scopes = $0.scopeTokens($1).map(\.text) },
      "upstream": { $2.settings.upstream = $0.resourceUpstream($1) },
      "introspection": { $2.settings.introspection = $0.resourceServer($1) },
      "check": { $2.settings.check = $0.address($1) },
      "check_scopes": { $2.settings.checkScopes = $0.scopeTokens($1).map(\.text) },
    ])
}

extension ResourceUpstream: SectionDraft {
  /// The parser of the mapping. In each function, `$0` is the policy reader, `$1` the field, and `$2` the draft.
  fileprivate static let section = Section<ResourceUpstream>(
    table,
    [
      "scopes": { $2.scope = Scope(parsing: $0.scopeTokens($1).map(\.text).joined(separator: " ")) },
      "client": { $2.client = $0.upstreamClient($1) },
    ])
}

/// The mapping `introspection:` of a resource.
struct ResourceServerDraft: SectionDraft {
  var id: ClientID?
  var secret: Secret?
  var upstream: UpstreamClient?

  static let table = SettingTable<ResourceServerDraft>(
    "resource_server", "The server of a resource, which may introspect the tokens for this resource.",
    [
      .customReader(
        "id", .text("up to 256 ASCII characters", pattern: "^[ -~]+$", maximumLength: 256),
        "Its user name in HTTP Basic, or `client_id` in the body", adviceIfMissing: "a user name"),
      .customReader(
        "secret", .section("secret"), "Its password, with at least 128 bits",
        adviceIfMissing: "`secret: { file: PATH }`"),
      .customReader(
        "upstream", .section("client_upstream"),
        """
        Its `client_id` and `client_secret` at the server's introspection endpoint, which the gateway asks too; \
        required if `endpoints` has `introspection`
        """,
        default: "the server is not asked"),
    ]
  ) { ResourceServerDraft() }

  fileprivate static let section = Section<ResourceServerDraft>(
    table,
    [
      "id": { $2.id = $0.clientID($1) }, "secret": { $2.secret = $0.resourceServerSecret($1) },
      "upstream": { $2.upstream = $0.upstreamClient($1) },
    ])
}

extension PolicyReader {
  /// Reads `resources:`, and reports names and users that occur twice.
  func readResources(_ field: Field) {
    if let upstream, upstream.parameters.contains("resource") {
      error(
        .conflict, field.key,
        "`resources` decides what the server gets for a `resource`; remove `resource` from `parameters` of `upstream`")
    }
    var names: [String: YAMLNode] = [:]
    var servers: [String: YAMLNode] = [:]
    for item in list(field) {
      var draft = ResourceDraft()
      guard let fields = read(item.node, ResourceDraft.section, into: &draft) else { continue }
      requireSettings(of: ResourceDraft.section, in: fields, item.node, named: "the resource")
      for name in draft.names {
        if let first = names.updateValue(name.node, forKey: name.uri.text) {
          error(
            .duplicateValue, name.node,
            "\(quoted(name.uri.text)) occurs twice in `resources`, first in line \(first.mark.line); remove one")
        }
      }
      if let id = draft.settings.introspection?.id, let first = servers.updateValue(item.node, forKey: id) {
        error(
          .duplicateValue, item.node,
          "resource server \(quoted(id)) occurs twice, first in line \(first.mark.line); give each its own `id`")
      }
      lint(draft.settings, fields)
      guard draft.hasURI else { continue }
      resources.append(draft.settings)
      let defaults = draft.settings.upstream.client?.scopes?.defaultScope?.text.split(separator: " ") ?? []
      let node = fields["upstream"]?.node ?? item.node
      resourceDefaultScopes += defaults.map { (String($0), draft.settings.uri, node) }
    }
    if let upstream, upstream.parameters.contains("audience"),
      resources.contains(where: { $0.upstream.audience != nil })
    {
      error(
        .conflict, field.key,
        "`resources` decides what the server gets as `audience`; remove `audience` from `parameters` of `upstream`")
    }
    lintUnrecorded(field)
    reportEmpty(field)
  }

  /// Reports that the tokens of observed clients are inactive at every resource, because the gateway has no records of
  /// them.
  private func lintUnrecorded(_ field: Field) {
    let observed = clients.entries.lazy.compactMap(\.client).first { $0.mode == .observe }
    guard
      let name = observed.map({ "client `\($0.id)` is" })
        ?? (enforcement.unknownClients == .observe ? "clients that are not listed are" : nil)
    else { return }
    warn(
      .resourceObserved, field.key,
      "\(name) observed, so the gateway does not record the tokens, and they are inactive at every introspection and "
        + "check; use `enforce` for clients of these resources")
  }

  /// Reports a resource whose tokens are checked, but whose records the store can lose.
  private func lint(_ resource: ResourceSettings, _ fields: Fields) {
    if let check = resource.check, let field = fields["check"],
      !Origin(scheme: .http, host: check.host).isLoopback
    {
      warn(
        .checkExposed, field.node,
        "the check at `\(check)` has no authentication; allow only the proxy of the resource to connect to it")
    }
    guard let field = fields["introspection"] ?? fields["check"] else { return }
    if let gateway, case .memory = gateway.store {
      report(
        .resourceStore, gateway.origin.isLoopback ? .warning : .error, field.key,
        "`store: memory` forgets at a restart for which resource a token is, and all tokens become inactive; use "
          + "`{ file: PATH }` or `redis://HOST:PORT/DB`")
    }
    if let upstream, !upstream.endpoints.introspection.isEmpty, resource.introspection?.upstream == nil {
      error(
        .missingKey, field.key,
        "the server has an introspection endpoint, which must be asked too; add `upstream: { client_id, client_secret }` "
          + "to `introspection`")
    }
  }

  fileprivate func resourceURI(_ field: Field) -> ResourceURI? {
    guard let text = text(field) else { return nil }
    if let uri = ResourceURI(parsing: text) { return uri }
    error(
      .invalidValue, field.node,
      "`\(field.name)` cannot be \(quoted(text)); use an absolute URI without `#`, with at most "
        + "\(ResourceURI.maximumLength) characters")
    return nil
  }

  fileprivate func resourceUpstream(_ field: Field) -> ResourceUpstream {
    var upstream = ResourceUpstream()
    read(field.node, ResourceUpstream.section, named: "upstream", into: &upstream)
    return upstream
  }

  /// Reads an upstream client that is not that of a client of the policy, so it needs an id.
  fileprivate func upstreamClient(_ field: Field) -> UpstreamClient? {
    var draft = ClientUpstreamDraft(settings: UpstreamClient())
    guard let fields = read(field.node, ClientUpstreamDraft.section, named: field.name, into: &draft) else {
      return nil
    }
    draft.fields = fields
    guard let id = draft.id else {
      if fields["client_id"] == nil { reportMissing("client_id", field.key, in: "`\(field.name)`", "its id") }
      return nil
    }
    return draft.settings(for: id, authentication: defaultAuthentication)
  }

  fileprivate func resourceServer(_ field: Field) -> ResourceServer? {
    var draft = ResourceServerDraft()
    guard let fields = read(field.node, ResourceServerDraft.section, named: "introspection", into: &draft) else {
      return nil
    }
    requireSettings(of: ResourceServerDraft.section, in: fields, field.key, named: "`introspection`")
    guard let id = draft.id, let secret = draft.secret else { return nil }
    return ResourceServer(id: id.rawValue, secret: secret, upstream: draft.upstream)
  }

  fileprivate func resourceServerSecret(_ field: Field) -> Secret? {
    guard let secret = secret(field) else { return nil }
    let bits = SecretStrength.bits(of: secret)
    if bits < SecretStrength.requiredBits {
      error(
        .weakSecret, field.node,
        "the secret of the resource server has at most \(Int(bits)) bits and could be guessed; use 128 random bits, such "
          + "as 32 hexadecimal digits of `openssl rand -hex 16`")
    }
    return secret
  }
}
