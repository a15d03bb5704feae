import OAuth
import Policy
import YAML

/// The mapping `gateway:`, before its settings are compared with each other.
private struct GatewayDraft: SectionDraft {
  var settings = GatewaySettings()
  var origin: Origin?
  var issuer: (text: String, origin: Origin)?
  /// The listeners with their locations.
  var listeners: [(value: ListenerSettings, node: YAMLNode)] = []
  var sharedStore = SharedStoreDraft()

  /// The parser of the mapping. In each function, `$0` is the policy reader, `$1` the field, and `$2` the draft.
  static let section = Section<GatewayDraft>(
    GatewaySettings.table,
    [
      "origin": { $2.origin = $0.gatewayOrigin($1) },
      "issuer": { $2.issuer = $0.issuer($1) },
      "listeners": { $2.listeners = $0.listeners($1) },
      "admin": { $0.readAdmin($1, &$2.settings) },
      "admin_hosts": { $2.settings.adminHosts = $0.hosts($1) },
      "store": { if let store = $0.store($1) { $2.settings.store = store } },
      "store_password": { $2.sharedStore.password = $0.secret($1) },
      "store_sentinel_password": { $2.sharedStore.sentinelPassword = $0.secret($1) },
      "store_key_prefix": { $2.sharedStore.keyPrefix = $0.keyPrefix($1) },
      "store_ca": { $2.sharedStore.authorities = $0.certificateChain($1) },
      "branding": { $2.settings.branding = $0.branding($1) },
      "limits": { $2.settings.limits = $0.limits($1) },
      "sealing_keys": { $2.settings.sealingKeys = $0.file($1) },
      "trusted_proxies": { $2.settings.trustedProxies = $0.trustedProxies($1) },
      "log_spool": { $2.settings.logSpool = $0.path($1) },
      "access_log": { $2.settings.accessLog = $0.accessLog($1) },
      "scopes_supported": { $2.settings.supportedScopes = $0.scopeTokens($1).map(\.text) },
      "cors_origins": { $2.settings.corsOrigins = $0.corsOrigins($1) },
      "strict_transport_security": { $2.settings.strictTransport = $0.strictTransport($1) },
    ])
}

extension PolicyReader {
  func readGateway(_ field: Field) {
    var draft = GatewayDraft()
    guard let fields = read(field.node, GatewayDraft.section, into: &draft) else { return }
    listenerLocations = draft.listeners.map { ($0.value.address, SourceLocation($0.node)) }
    sealingKeys = draft.settings.sealingKeys
    issuerPlace = (fields["issuer"] ?? fields["origin"]).map { Diagnostic.Place(SourceLocation($0.node)) }
    if fields["origin"] == nil, fields["issuer"] == nil {
      reportMissing("origin", field.key, in: "`gateway`", "the URL at which clients reach it, or `issuer`")
    }
    requireSettings(of: GatewayDraft.section, in: fields, field.key, named: "`gateway`")
    var settings = draft.settings
    if let timeout = fields.valid("drain_timeout"), settings.drainTimeout <= settings.drainDelay {
      error(
        .conflict, timeout.node,
        "`drain_timeout` leaves nothing after `drain_delay`, which is part of it; make it longer than "
          + "`\(UnitNotation.format(settings.drainDelay))`")
    }
    guard let origin = draft.origin ?? draft.issuer?.origin else { return }
    settings.origin = origin
    settings.issuer = draft.issuer?.text ?? origin.description
    settings.listeners = draft.listeners.map(\.value)
    lintIssuer(draft, origin, fields)
    apply(draft.sharedStore, fields, to: &settings)
    lint(settings, draft.listeners, fields, field)
    gateway = settings
  }

  /// Reports an issuer that clients cannot find at the gateway. They read the metadata under the issuer's own host, and
  /// refuse a document that names another issuer than the URL at which they found it.
  private func lintIssuer(_ draft: GatewayDraft, _ origin: Origin, _ fields: Fields) {
    guard let issuer = draft.issuer, issuer.origin != origin, let field = fields["issuer"] else { return }
    switch draft.settings.metadata {
    case .mirrored, .off: return
    case .on:
      error(
        .issuerOrigin, field.node,
        "`issuer` is at `\(issuer.origin)` and `origin` is `\(origin)`, so clients find no metadata of this issuer, or "
          + "refuse it; use one host for both, or `metadata: mirrored` if the issuer's host serves the gateway's "
          + "document")
    }
  }

  private func lint(
    _ gateway: GatewaySettings, _ listeners: [(value: ListenerSettings, node: YAMLNode)], _ fields: Fields,
    _ field: Field
  ) {
    let hasSeveralReplicas = gateway.replicas > 1
    let unsharedStore: String? =
      switch gateway.store {
      case .memory: "`store: memory`"
      case .file: "a `store` in a file"
      case .redis: nil
      }
    if hasSeveralReplicas, let unsharedStore {
      error(
        .memoryStore, fields["store"]?.node ?? field.key,
        "\(gateway.replicas) replicas cannot share \(unsharedStore); use `redis://HOST:PORT/DB` or one replica")
    }
    if fields["sealing_keys"] == nil {
      if hasSeveralReplicas {
        error(
          .ephemeralKey, field.key,
          "\(gateway.replicas) replicas without `sealing_keys` cannot open values that another one sealed; add "
            + "`sealing_keys: { file: PATH }`")
      } else {
        // `lintEphemeralKey()` reports this later, because the severity depends on the clients.
        ephemeralKeyLocation = SourceLocation(field.key)
      }
    }
    if let strict = fields["strict_transport_security"], gateway.strictTransport == nil,
      gateway.listeners.contains(where: { $0.tls != nil })
    {
      warn(
        .strictTransportOff, strict.node,
        "`strict_transport_security: off` lets an attacker on the network lead browsers to plain http; remove it")
    }
    for listener in listeners where listener.value.proxyProtocol && gateway.trustedProxies.isEmpty {
      error(
        .conflict, listener.node,
        "`proxy_protocol` is accepted only from `trusted_proxies`, which is empty; list the proxies that send it")
    }
    let trustsUnix = gateway.trustedProxies.contains { $0.contains(AddressRange.unixSockets.network) }
    for listener in listeners {
      guard case .unixSocket(let path) = listener.value.address, !listener.value.isLocal else { continue }
      if listener.value.proxyProtocol, !gateway.trustedProxies.isEmpty, !trustsUnix {
        error(
          .conflict, listener.node,
          "`proxy_protocol` is accepted only from `trusted_proxies`, which does not contain `unix`; add it")
      }
      if trustsUnix, path.hasPrefix("@") || listener.value.unixSocket.mode & 0o002 != 0 {
        warn(
          .trustEveryone, listener.node,
          "every program on this machine may connect to `\(listener.value.address)`, which `trusted_proxies` trusts; use a "
            + "path with `mode: \"0660\"`")
      }
    }
    let needsTLSListeners = gateway.trustedProxies.isEmpty && gateway.origin.scheme == .https
    for listener in listeners where needsTLSListeners && listener.value.tls == nil {
      let address = listener.value.address
      guard !listener.value.isLocal else {
        warn(
          .untrustedProxy, listener.node,
          "the proxy that ends TLS in front of `\(address)` is not in `trusted_proxies`, so every request seems to come "
            + "from this machine and limits per address have no effect; add its address, for example `127.0.0.1`")
        continue
      }
      let advice =
        address.socketAddress == nil ? "add `unix` to `trusted_proxies`" : "name the proxies that terminate TLS"
      warn(
        .plaintextListener, listener.node,
        "plaintext listener `\(address)` answers no OAuth request while `trusted_proxies` is empty; \(advice), or add "
          + "`tls`")
    }
  }

  fileprivate func gatewayOrigin(_ field: Field) -> Origin? {
    guard let url = url(field) else { return nil }
    guard url.path.isEmpty else {
      error(
        .invalidValue, field.node,
        "`origin` cannot have a path; use `\(url.origin)`, and `issuer` if the issuer has a path")
      return nil
    }
    return requireTLS(url.origin, field) ? url.origin : nil
  }

  /// Reads origins, each in the form in which browsers send it in `Origin`.
  fileprivate func corsOrigins(_ field: Field) -> [ScriptOrigin] {
    var origins: [ScriptOrigin] = []
    for item in list(field, allowsSingleValue: true) {
      guard let origin = item.node.text.flatMap(ScriptOrigin.init(ofApp:)) ?? webOrigin(item) else { continue }
      if origins.contains(origin) {
        error(.duplicateValue, item.node, "`\(origin)` occurs twice in `cors_origins`; keep one")
      } else {
        origins.append(origin)
      }
    }
    return origins
  }

  private func webOrigin(_ item: Field) -> ScriptOrigin? {
    guard let url = url(item) else { return nil }
    let origin = ScriptOrigin(url.origin)
    guard origin.isOfApp || requireTLS(url.origin, item) else { return nil }
    guard url.path.isEmpty else {
      error(.invalidValue, item.node, "`cors_origins` cannot hold a path; use `\(origin)`")
      return nil
    }
    return origin
  }

  fileprivate func issuer(_ field: Field) -> (text: String, origin: Origin)? {
    guard let text = field.node.text, let url = url(field), requireTLS(url.origin, field) else { return nil }
    return (text, url.origin)
  }

  /// Returns true if the origin is https or on loopback, where http is for development. Otherwise reports the setting
  /// and returns false, because http on a network would expose codes and tokens.
  private func requireTLS(_ origin: Origin, _ field: Field) -> Bool {
    if origin.scheme == .https || origin.isLoopback { return true }
    error(
      .plaintextOrigin, field.node,
      "`\(field.name)` cannot be plain http at `\(origin.host)`; use https, http is for loopback hosts")
    return false
  }

  /// Reads a URL without userinfo, query and fragment.
  func url(_ field: Field) -> URLText? {
    guard let text = text(field) else { return nil }
    do {
      return try URLText(parsing: text)
    } catch {
      self.error(.invalidValue, field.node, "`\(field.name)` cannot be \(quoted(text)); it \(error.text)")
      return nil
    }
  }

  fileprivate func readAdmin(_ field: Field, _ settings: inout GatewaySettings) {
    if field.node.text == "off" {
      settings.admin = nil
      return
    }
    guard let address = address(field) else { return }
    settings.admin = address
    adminLocation = SourceLocation(field.node)
    if !Origin(scheme: .http, host: address.host).isLoopback {
      warn(
        .adminExposed, field.node,
        "the admin listener at `\(address)` has no authentication; allow only your monitoring to connect to it")
    }
  }
}
