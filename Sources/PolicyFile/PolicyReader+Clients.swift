import OAuth
import Policy
import Time
import YAML

extension PolicyReader {
  /// Reads `clients:`, which is a list of clients and includes, or a mapping with `include`.
  func readClients(_ field: Field) {
    switch field.node.kind {
    case .sequence:
      clients.reserveCapacity(field.node.count)
      readEach(of: field.node, readClientOrInclude)
    case .mapping:
      var draft = IncludeDraft()
      read(field.node, IncludeDraft.section, named: "clients", into: &draft)
    case .scalar:
      error(.wrongType, field.node, "`clients` must be a list of clients, or a mapping with `include`")
    }
  }

  /// Reads the items of a list one by one, and frees each item after it is read.
  func readEach(of list: YAMLNode, _ read: (YAMLNode) -> Void) {
    for item in list.items {
      read(item)
      list.document.freeItems(of: list, through: item)
    }
  }

  private func readClientOrInclude(_ node: YAMLNode) {
    if node.kind == .mapping, node.count == 1, let entry = node.entries.first(where: { $0.key.text == "include" }) {
      include(Field(name: "include", key: entry.key, node: entry.value))
    } else {
      readClient(node)
    }
  }

  /// Reads one client, reports its problems and adds it to `clients`.
  func readClient(_ node: YAMLNode) {
    guard let draft = readDraft(node) else { return }
    lint(draft)
    guard let id = draft.id else { return }
    if let first = clients[id] {
      error(
        .duplicateValue, draft.node,
        "\(draft.title) occurs twice, first in \(line(of: first.location, from: draft.node)); remove one")
      return
    }
    if draft.rules.consentRemembered > 0, let field = draft.fields.valid("consent_remembered") {
      clients.rememberedLocations[id] = SourceLocation(field.node)
    }
    let client = draft.kind == nil ? nil : client(draft, id)
    if let client { lintRawRefreshDecision(client, draft) }
    clients.add(
      id,
      ClientCollection.Entry(
        client: client, location: SourceLocation(draft.node),
        consentLocation: draft.fields.valid("consent").map { SourceLocation($0.node) },
        upstreamIDLocation: draft.upstream.fields.valid("client_id").map { SourceLocation($0.node) }))
  }

  private func readDraft(_ node: YAMLNode) -> ClientDraft? {
    var draft = ClientDraft(node: node, settings: clientDefaults)
    suggestedKeys = []
    // The id is read before the other settings, so that every message about the client can contain the id.
    if let entry = node.entries.first(where: { $0.key.text == "id" }), !entry.value.isEmpty {
      draft.node = entry.value
      draft.id = clientID(Field(name: "id", key: entry.key, node: entry.value))
    }
    guard let fields = read(node, ClientDraft.section, into: &draft) else { return nil }
    draft.complete(fields, &clients)
    // The check below reports a missing `type` with a specific message.
    requireSettings(of: ClientDraft.section, in: fields, node, named: "the client", except: "type")
    lint(draft.rules, fields)
    if fields["type"] == nil, !suggestedKeys.contains("type") {
      error(
        .clientType, draft.node,
        "\(draft.title) has no `type`; say whether it is `public` or `confidential`, it cannot be guessed")
    }
    return draft
  }

  /// Returns the line of a location, with the name of its file if this is not the file of `node`.
  private func line(of location: SourceLocation, from node: YAMLNode) -> String {
    let file = location.file == node.document.file ? "" : "\(location.file), "
    return "\(file)line \(location.mark.line)"
  }

  /// Reads a client id (RFC 6749, appendix A.1: visible ASCII and spaces). The length is limited for logs and metrics.
  func clientID(_ field: Field) -> ClientID? {
    guard let text = text(field) else { return nil }
    guard text.utf8.allSatisfy({ (0x20...0x7e).contains($0) }), text.utf8.count <= 256 else {
      error(
        .invalidValue, field.node, "`\(field.name)` cannot be \(quoted(text)); use at most 256 ASCII characters")
      return nil
    }
    guard !ClientID.isIssued(text) else {
      error(
        .invalidValue, field.node,
        "`\(field.name)` cannot be \(quoted(text)); ids that begin with `\(ClientID.issuedPrefix)` are those of "
          + "registered clients")
      return nil
    }
    return ClientID(text)
  }

  func readGrants(_ field: Field, _ draft: ClientDraft) {
    var grants: [GrantType] = []
    for item in list(field) {
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
      if grant == .password || grant == .clientCredentials { draft.restrictedGrants.append((grant, item.node)) }
    }
    reportEmpty(field)
    guard !grants.isEmpty else { return }
    draft.listsGrants = true
    draft.settings.grants = clients.sharedSet(of: grants)
  }

  func readClientUpstream(_ field: Field, _ draft: ClientDraft) {
    draft.upstream.fields =
      read(field.node, ClientUpstreamDraft.section, named: "upstream", into: &draft.upstream) ?? Fields()
    recordDefaultScope(of: draft.upstream.settings.scopes, draft.upstream.fields["scopes"])
  }

  func upstreamRedirect(_ field: Field) -> UpstreamClient.RedirectURI? {
    guard let text = text(field) else { return nil }
    switch text {
    case "callback": return .callback
    case "requested": return .requested
    default:
      // The redirect URI that is registered at the upstream may violate the gateway's rules for redirect URIs, so every
      // URL that `URLText` can parse is valid here, too.
      if (try? RedirectURI(parsing: text)) != nil || (try? URLText(parsing: text)) != nil { return .fixed(text) }
      error(
        .invalidValue, field.node,
        "`redirect_uri` cannot be \(quoted(text)); use `callback`, `requested` or a complete URI")
      return nil
    }
  }

  /// Creates the client from its entry. Also records the first native client in observe mode for the self-check.
  private func client(_ draft: ClientDraft, _ id: ClientID) -> Client {
    var settings = draft.settings
    settings.id = id
    settings.redirectURIs = draft.redirectURIs.map(\.value)
    settings.upstream = draft.upstream.settings(
      for: id, authentication: defaultAuthentication)
    if settings.upstream.authentication == .basicRaw, settings.upstream.clientID.rawValue.contains(":") {
      error(
        .conflict, draft.node,
        "\(draft.title) cannot have `authentication: basic_raw`, because a colon ends the id in HTTP Basic; use `basic` or "
          + "`post`")
    }
    if settings.mode == .observe, settings.application == .native {
      nativeClientInObserveMode = nativeClientInObserveMode ?? id
    }
    return Client(settings)
  }

  /// The authentication of clients at the upstream, if their own settings do not name one.
  var defaultAuthentication: UpstreamClient.Authentication { upstream?.authentication.authentication ?? .basic }
}
