import OAuth
import Policy
import YAML

extension PolicyReader {
  /// `clients:` is a list of clients and includes, or a mapping with `include`.
  func readClients(_ field: Field) {
    switch field.node.kind {
    case .sequence:
      clients.reserveCapacity(field.node.count)
      readEach(of: field.node, readClientOrInclude)
    case .mapping:
      fields(field.node, named: "clients", IncludeKey.self) { _, field in include(field) }
    case .scalar:
      error(.wrongType, field.node, "`clients` must be a list of clients, or a mapping with `include`")
    }
  }

  /// Reads the items of a list one by one, and gives back what was read: by then it is part of the policy.
  func readEach(of list: YAMLNode, _ read: (YAMLNode) -> Void) {
    for item in list.items {
      read(item)
      list.document.forget(list, through: item)
    }
  }

  private func readClientOrInclude(_ node: YAMLNode) {
    if node.kind == .mapping, node.count == 1, let entry = node.entries.first(where: { $0.key.text == "include" }) {
      include(Field(name: "include", key: entry.key, node: entry.value))
    } else {
      readClient(node)
    }
  }

  func readClient(_ node: YAMLNode) {
    guard let draft = draft(node) else { return }
    lint(draft)
    guard let id = draft.id else { return }
    if let first = clients[id] {
      error(
        .duplicateValue, draft.node,
        "\(draft.title) occurs twice, first in \(line(of: first.place, from: draft.node)); remove one")
      return
    }
    clients.add(
      id,
      ClientCollection.Entry(
        client: draft.kind.map { client(draft, id: id, kind: $0) }, place: Place(draft.node),
        consent: draft.consent.map { Place($0.node) }, upstreamID: draft.upstreamID.map { Place($0.node) }))
  }

  private func draft(_ node: YAMLNode) -> ClientDraft? {
    let draft = ClientDraft(node: node, rules: defaults)
    suggested = []
    var hasID = false
    // First, so that every message about the client can name it.
    if let entry = node.entries.first(where: { $0.key.text == "id" }), !entry.value.isEmpty {
      hasID = true
      draft.node = entry.value
      draft.id = clientID(Field(name: "id", key: entry.key, node: entry.value))
    }
    let isMapping = fields(node, named: "client", ClientKey.self) { key, field in readClientKey(key, field, draft) }
    guard isMapping else { return nil }
    if !hasID { missing(ClientKey.id, node, in: "the client", "the identifier that it sends as `client_id`") }
    if draft.typeNode == nil, !suggested.contains(ClientKey.type.rawValue) {
      error(
        .clientType, draft.node,
        "\(draft.title) has no `type`; say whether it is `public` or `confidential`, it cannot be guessed")
    }
    return draft
  }

  /// A line, with its file where that is another one.
  private func line(of place: Place, from node: YAMLNode) -> String {
    let file = place.file == node.document.file ? "" : "\(place.file), "
    return "\(file)line \(place.mark.line)"
  }

  private func readClientKey(_ key: ClientKey, _ field: Field, _ draft: ClientDraft) {
    switch key {
    case .id: break
    case .name: draft.name = text(field)
    case .type:
      draft.typeNode = field.node
      draft.kind = choice(field, Client.Kind.self)
    case .application:
      draft.applicationNode = field.node
      draft.application = choice(field, Client.Application.self)
      if draft.application == .device {
        reportUnsupported(field, "device clients are not served yet; remove the client")
      }
    case .platform: draft.platform = choice(field, Client.Platform.self)
    case .redirectURIs:
      draft.namesRedirectURIs = field.node.kind != .sequence || field.node.count > 0
      draft.redirectURIs = redirectURIs(field)
    case .grants: readGrants(field, draft)
    case .pkce: draft.pkce = choice(field, Client.PKCE.self).map { ($0, field.node) }
    case .responseModes: draft.responseModes = choices(field, ResponseMode.self).map { ($0, field.node) }
    case .consent: draft.consent = choice(field, Consent.self).map { ($0, field.node) }
    case .secret:
      draft.secretNode = field.node
      draft.secret = secret(field)
    case .upstream: readClientUpstream(field, draft)
    case .mode: readRule(.mode, field, &draft.rules)
    case .profile: readRule(.profile, field, &draft.rules)
    case .trusted: draft.isTrusted = flag(field) ?? true
    case .reliesOnNonce: draft.reliesOnNonce = flag(field) ?? false
    case .pkceMethods: readRule(.pkceMethods, field, &draft.rules)
    case .pkceSyntax: readRule(.pkceSyntax, field, &draft.rules)
    case .state: readRule(.state, field, &draft.rules)
    case .localhost: readRule(.localhost, field, &draft.rules)
    case .schemes: readRule(.schemes, field, &draft.rules)
    case .embeddedUserAgents: readRule(.embeddedUserAgents, field, &draft.rules)
    case .codeLifetime: readRule(.codeLifetime, field, &draft.rules)
    case .deviceCodeLifetime: readDeviceCodeLifetime(field, &draft.rules)
    case .refreshReuseWindow: readRule(.refreshReuseWindow, field, &draft.rules)
    case .refreshReuseNetworks:
      draft.reuseNetworks = choice(field, RefreshReuseNetworks.self).map { ($0, field.node) }
    case .refreshIdle: readRule(.refreshIdle, field, &draft.rules)
    case .rawRefreshUntil:
      draft.rawRefreshNode = field.node
      readRule(.rawRefreshUntil, field, &draft.rules)
    case .pushedAuthorization:
      draft.pushedNode = field.node
      readRule(.pushedAuthorization, field, &draft.rules)
    case .fragmentGuard: readRule(.fragmentGuard, field, &draft.rules)
    }
  }

  /// RFC 6749, appendix A.1: visible ASCII and spaces. The bound keeps ids out of trouble in logs and metrics.
  private func clientID(_ field: Field) -> ClientID? {
    guard let text = text(field) else { return nil }
    guard text.utf8.allSatisfy({ (0x20...0x7e).contains($0) }), text.utf8.count <= 256 else {
      error(
        .invalidValue, field.node, "`\(field.name)` cannot be \(quoted(text)); use at most 256 ASCII characters")
      return nil
    }
    return ClientID(text)
  }

  private func readGrants(_ field: Field, _ draft: ClientDraft) {
    var grants: [GrantType] = []
    let items = list(field)
    for item in items {
      guard let text = text(item) else { continue }
      if text == "implicit" {
        error(.grant, item.node, "\(draft.title) cannot have the implicit grant; use `authorization_code`")
        continue
      }
      let grant = text == "device_code" ? .deviceCode : GrantType(rawValue: text)
      guard let grant else {
        let known = GrantType.allCases.filter { $0 != .password }.map {
          $0 == .deviceCode ? "device_code" : $0.rawValue
        }
        let near = EditDistance.nearest(to: text, among: known).map { "did you mean `\($0)`?" }
        error(
          .invalidValue, item.node, "`grants` cannot hold \(quoted(text)); \(near ?? "use \(oneOf(known))")")
        continue
      }
      guard !grants.contains(grant) else {
        error(.duplicateValue, item.node, "\(quoted(text)) occurs twice in `grants`; keep one")
        continue
      }
      grants.append(grant)
      if grant == .deviceCode { reportUnsupported(item, "the device grant is not served yet; remove `device_code`") }
      if grant == .password || grant == .clientCredentials { draft.grantNodes.append((grant, item.node)) }
    }
    if items.isEmpty, field.node.kind == .sequence {
      error(.missingValue, field.node, "`grants` is empty; name at least one or remove the key")
    }
    if !grants.isEmpty { draft.grants = clients.shared(grants) }
  }

  private func readClientUpstream(_ field: Field, _ draft: ClientDraft) {
    fields(field.node, named: "upstream", ClientUpstreamKey.self) { key, field in
      switch key {
      case .clientID: draft.upstreamID = clientID(field).map { ($0, field.node) }
      case .clientSecret:
        draft.upstreamSecretNode = field.node
        draft.upstreamSecret = secret(field)
      case .authentication:
        draft.authentication = choice(field, UpstreamClient.Authentication.self).map { ($0, field.node) }
      case .redirectURI: draft.upstreamRedirect = upstreamRedirect(field)
      case .scopes: draft.upstreamScopes = scopes(field, server: upstream?.scopes)
      }
    }
  }

  private func upstreamRedirect(_ field: Field) -> UpstreamClient.RedirectURI? {
    guard let text = text(field) else { return nil }
    switch text {
    case "callback": return .callback
    case "requested": return .requested
    default:
      // The upstream's registration may be older than the rules for apps, so plain http is taken as well.
      if (try? RedirectURI(parsing: text)) != nil || (try? URLText(parsing: text)) != nil { return .fixed(text) }
      error(
        .invalidValue, field.node,
        "`redirect_uri` cannot be \(quoted(text)); use `callback`, `requested` or a complete URI")
      return nil
    }
  }

  private func client(_ draft: ClientDraft, id: ClientID, kind: Client.Kind) -> Client {
    let rules = draft.rules
    if rules.mode == .observe, draft.effectiveApplication == .native { observedNative = observedNative ?? id }
    // Where the secret could not be read there is an error already; what follows assumes that it is held.
    let holdsCredentials = draft.upstreamSecretNode != nil
    let upstream = UpstreamClient(
      clientID: draft.upstreamID?.value ?? id, clientSecret: draft.upstreamSecret,
      authentication: draft.authentication?.value ?? (holdsCredentials ? .basic : .none),
      redirectURI: draft.upstreamRedirect ?? (holdsCredentials ? .callback : .requested),
      scopes: draft.upstreamScopes)
    var settings = ClientSettings(
      id: id, name: draft.name, kind: kind, application: draft.effectiveApplication, platform: draft.platform,
      redirectURIs: draft.redirectURIs.map(\.value), grants: draft.grants ?? clients.shared(draft.defaultGrants),
      pkce: draft.pkce?.value ?? .required, profile: rules.profile, reliesOnNonce: draft.reliesOnNonce,
      pkceMethods: rules.pkceMethods, pkceSyntax: rules.pkceSyntax,
      responseModes: clients.shared(draft.responseModes?.value), mode: rules.mode, state: rules.state,
      localhost: rules.localhost, schemes: rules.schemes, embeddedUserAgents: rules.embeddedUserAgents,
      codeLifetime: rules.codeLifetime, deviceCodeLifetime: rules.deviceCodeLifetime,
      refreshReuseWindow: rules.refreshReuseWindow, refreshIdle: rules.refreshIdle,
      rawRefreshUntil: rules.rawRefreshUntil, pushedAuthorization: rules.pushedAuthorization,
      fragmentGuard: rules.fragmentGuard,
      consent: draft.consent?.value ?? .gateway, secret: draft.secret, upstream: upstream,
      registration: draft.isTrusted ? .policy : .dynamic)
    if let networks = draft.reuseNetworks { settings.refreshReuseNetworks = networks.value }
    return Client(settings)
  }
}
