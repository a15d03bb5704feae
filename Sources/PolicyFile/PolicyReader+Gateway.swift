import OAuth
import Policy
import YAML

extension PolicyReader {
  /// What a mapping `gateway:` says, before its parts are held against each other.
  private struct GatewayDraft {
    var origin: (value: Origin, node: YAMLNode)?
    var issuer: (value: String, origin: Origin, node: YAMLNode)?
    var namesPlace = false
    var listeners: [(value: Listener, node: YAMLNode)] = []
    var namesListeners = false
    var http2 = true
    var halfClose = HalfClose.cancel
    var admin: SocketAddress? = SocketAddress(host: "127.0.0.1", port: 9180)
    var workers: Int?
    var replicas = 1
    var sealingKeys: FileReference?
    var namesSealingKeys = false
    var store = StoreLocation.memory()
    var storeNode: YAMLNode?
    var trustedProxies: [AddressRange] = []
    var drainDelay = 0
    /// With where it stands; by default there are 30 s after the delay.
    var drainTimeout: (value: Int, node: YAMLNode)?
    var branding = Branding()
    var limits = LimitSettings()
    var strictTransport: StrictTransport? = StrictTransport()
    var strictTransportNode: YAMLNode?
  }

  func readGateway(_ field: Field) {
    var draft = GatewayDraft()
    let isMapping = fields(field.node, named: "gateway", GatewayKey.self) { key, field in
      switch key {
      case .origin:
        draft.namesPlace = true
        draft.origin = gatewayOrigin(field).map { ($0, field.node) }
      case .issuer:
        draft.namesPlace = true
        draft.issuer = issuer(field).map { ($0.text, $0.origin, field.node) }
      case .listeners:
        draft.namesListeners = true
        draft.listeners = listeners(field)
        listenerPlaces = draft.listeners.map { ($0.value.address, Place($0.node)) }
      case .http2: draft.http2 = flag(field) ?? true
      case .halfClose: draft.halfClose = choice(field, HalfClose.self) ?? .cancel
      case .admin: readAdmin(field, &draft)
      case .workers:
        if field.node.text != "auto" { draft.workers = number(field, 1...1024, or: "auto") }
      case .replicas: draft.replicas = number(field, 1...10_000) ?? 1
      case .sealingKeys:
        draft.namesSealingKeys = true
        draft.sealingKeys = file(field)
        sealingKeys = draft.sealingKeys
      case .store:
        draft.storeNode = field.node
        draft.store = store(field) ?? .memory()
      case .trustedProxies: draft.trustedProxies = trustedProxies(field)
      case .drainDelay: draft.drainDelay = duration(field, 0...3_600_000) ?? 0
      case .drainTimeout:
        draft.drainTimeout = duration(field, 1_000...86_400_000).map { ($0, field.node) }
      case .branding: draft.branding = branding(field)
      case .limits: draft.limits = limits(field)
      case .strictTransport:
        draft.strictTransportNode = field.node
        draft.strictTransport = strictTransport(field)
      }
    }
    guard isMapping else { return }
    finishGateway(draft, field)
  }

  private func finishGateway(_ draft: GatewayDraft, _ field: Field) {
    if !draft.namesPlace {
      missing(GatewayKey.origin, field.key, in: "`gateway`", "the URL at which clients reach it, or `issuer`")
    }
    if !draft.namesListeners {
      missing(GatewayKey.listeners, field.key, in: "`gateway`", "a list such as `- address: 127.0.0.1:8080`")
    }
    if let timeout = draft.drainTimeout, timeout.value <= draft.drainDelay {
      error(
        .conflict, timeout.node,
        "`drain_timeout` leaves nothing after `drain_delay`, which is part of it; make it longer than "
          + "`\(Quantity.duration(draft.drainDelay))`")
    }
    guard let origin = draft.origin?.value ?? draft.issuer?.origin else { return }
    lint(draft, origin, field)
    gateway = GatewaySettings(
      origin: origin, issuer: draft.issuer?.value ?? origin.description, listeners: draft.listeners.map(\.value),
      admin: draft.admin, workers: draft.workers, replicas: draft.replicas, sealingKeys: draft.sealingKeys,
      store: draft.store, trustedProxies: draft.trustedProxies, drainDelay: draft.drainDelay,
      drainTimeout: draft.drainTimeout?.value ?? draft.drainDelay + 30_000, branding: draft.branding,
      limits: draft.limits, strictTransport: draft.strictTransport)
    gateway?.http2 = draft.http2
    gateway?.halfClose = draft.halfClose
  }

  private func lint(_ draft: GatewayDraft, _ origin: Origin, _ field: Field) {
    let severalReplicas = draft.replicas > 1
    if severalReplicas, case .memory = draft.store {
      error(
        .memoryStore, draft.storeNode ?? field.key,
        "\(draft.replicas) replicas cannot share what `store: memory` remembers; use `redis://HOST:PORT/DB` or one "
          + "replica")
    }
    if !draft.namesSealingKeys {
      if severalReplicas {
        error(
          .ephemeralKey, field.key,
          "\(draft.replicas) replicas without `sealing_keys` cannot open what another one sealed; add "
            + "`sealing_keys: { file: PATH }`")
      } else {
        // Reported once the clients are known.
        ephemeralKeyPlace = Place(field.key)
      }
    }
    if let node = draft.strictTransportNode, draft.strictTransport == nil,
      draft.listeners.contains(where: { $0.value.tls != nil })
    {
      warn(
        .strictTransportOff, node,
        "`strict_transport_security: off` lets a network lead browsers to plain http first; remove it")
    }
    for listener in draft.listeners where listener.value.proxyProtocol && draft.trustedProxies.isEmpty {
      error(
        .conflict, listener.node,
        "`proxy_protocol` is believed of `trusted_proxies` only, and there are none; name the proxies that speak it")
    }
    let answers = draft.trustedProxies.isEmpty && origin.scheme == .https
    for listener in draft.listeners where answers && listener.value.tls == nil {
      let address = listener.value.address
      guard !Origin(scheme: .http, host: address.host).isLoopback else {
        warn(
          .untrustedProxy, listener.node,
          "the proxy that ends TLS in front of `\(address)` is not in `trusted_proxies`, so every request seems to come "
            + "from this machine and limits per address have no effect; add its address, for example `127.0.0.1`")
        continue
      }
      warn(
        .plaintextListener, listener.node,
        "plaintext listener `\(address)` answers no OAuth request while `trusted_proxies` is empty; name the proxies "
          + "that terminate TLS, or add `tls`")
    }
  }

  private func gatewayOrigin(_ field: Field) -> Origin? {
    guard let url = url(field) else { return nil }
    guard url.path.isEmpty else {
      error(
        .invalidValue, field.node,
        "`origin` cannot have a path; use `\(url.origin)`, and `issuer` if the issuer has a path")
      return nil
    }
    return requireTLS(url.origin, field) ? url.origin : nil
  }

  private func issuer(_ field: Field) -> (text: String, origin: Origin)? {
    guard let text = field.node.text, let url = url(field), requireTLS(url.origin, field) else { return nil }
    return (text, url.origin)
  }

  /// http serves development on this machine; anywhere else codes and tokens would travel in the clear.
  private func requireTLS(_ origin: Origin, _ field: Field) -> Bool {
    if origin.scheme == .https || origin.isLoopback { return true }
    error(
      .plaintextOrigin, field.node,
      "`\(field.name)` cannot be plain http at `\(origin.host)`; use https, http is for loopback hosts")
    return false
  }

  /// A URL without userinfo, query and fragment.
  func url(_ field: Field) -> URLText? {
    guard let text = text(field) else { return nil }
    do {
      return try URLText(parsing: text)
    } catch {
      self.error(.invalidValue, field.node, "`\(field.name)` cannot be \(quoted(text)); it \(error.text)")
      return nil
    }
  }

  private func readAdmin(_ field: Field, _ draft: inout GatewayDraft) {
    if field.node.text == "off" {
      draft.admin = nil
      return
    }
    guard let address = address(field) else { return }
    draft.admin = address
    adminPlace = Place(field.node)
    if !Origin(scheme: .http, host: address.host).isLoopback {
      warn(
        .adminExposed, field.node,
        "the admin listener at `\(address)` has no authentication; allow only the monitoring to connect to it")
    }
  }

  private func store(_ field: Field) -> StoreLocation? {
    if field.node.kind == .mapping { return sizedStore(field) }
    guard let text = text(field) else { return nil }
    if text == "memory" { return .memory() }
    for scheme in ["redis://", "rediss://"] where text.hasPrefix(scheme) {
      let rest = text.dropFirst(scheme.count)
      let place = rest.prefix { $0 != "/" }
      let database = rest.dropFirst(place.count).dropFirst()
      guard (try? URLText(parsing: "http://" + place)) != nil,
        database.isEmpty || AddressText.isCanonicalNumber(database)
      else { break }
      reportUnsupported(field, "shared stores are not spoken to yet; use `memory` and one replica")
      return .redis(text)
    }
    error(
      .invalidValue, field.node,
      "`store` cannot be \(quoted(text)); use `memory`, `{ memory: SIZE }` or "
        + "`redis://HOST:PORT/DB`")
    return nil
  }

  /// Below 1 MiB a kind of entry would have room for a handful.
  private func sizedStore(_ field: Field) -> StoreLocation? {
    var size: Int?
    fields(field.node, named: field.name, StoreKey.self) { _, field in
      size = self.size(field, 1_048_576...1_099_511_627_776)
    }
    if field.node.count == 0 {
      error(.missingKey, field.node, "`store` has no `memory`; add `memory: SIZE`")
    }
    return size.map { .memory(size: $0) }
  }

  private func branding(_ field: Field) -> Branding {
    var branding = Branding()
    fields(field.node, named: "branding", BrandingKey.self) { key, field in
      guard let text = text(field) else { return }
      switch key {
      case .name: branding.name = text
      case .supportURL:
        let isPath = text.hasPrefix("/") && !text.hasPrefix("//")
        let isURL = text.hasPrefix("https://") && text.utf8.count > 8
        guard isPath || isURL, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\\") }) else {
          error(
            .invalidValue, field.node,
            "`support_url` cannot be \(quoted(text)); use an https URL or a path that begins with one `/`")
          return
        }
        branding.supportURL = text
      }
    }
    return branding
  }
}
