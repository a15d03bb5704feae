import Policy
import YAML

extension PolicyReader {
  /// `pkce:` of `upstream:`.
  private enum UpstreamPKCE: String, CaseIterable {
    case strip
    case forward
  }

  /// `callback_risk:` of `upstream:`.
  private enum CallbackRisk: String, CaseIterable {
    case accepted
  }

  func readUpstream(_ field: Field) {
    var origin: Origin?
    var endpoints = Endpoints(authorization: [], token: [])
    var named: Set<UpstreamKey> = []
    var settings: [(inout UpstreamSettings) -> Void] = []
    var tls: (draft: UpstreamTLSDraft, field: Field)?
    var urlField: Field?
    var notEndpoints: [(path: String, node: YAMLNode)] = []
    var reserved: (value: Int, node: YAMLNode)?
    var networkCallback: YAMLNode?
    var callbackRisk: YAMLNode?
    var usesPKCE = false
    let isMapping = fields(field.node, named: "upstream", UpstreamKey.self) { key, field in
      named.insert(key)
      switch key {
      case .url:
        origin = upstreamOrigin(field)
        urlField = field
        upstreamURLPlace = Place(field.node)
      case .tls: tls = (upstreamTLS(field), field)
      case .endpoints: endpoints = readEndpoints(field)
      case .callback:
        guard let mode = choice(field, CallbackMode.self) else { return }
        settings.append { $0.callback = mode }
        if mode == .network { networkCallback = field.node }
      case .callbackRisk:
        if choice(field, CallbackRisk.self) != nil { callbackRisk = field.node }
      case .pass:
        let prefixes = paths(field)
        settings.append { $0.pass = prefixes }
      case .notEndpoints: notEndpoints = exactPaths(field)
      case .stateLimit:
        guard let limit = stateLimit(field) else { return }
        settings.append { $0.stateLimit = limit }
      case .codeLifetime:
        guard let lifetime = seconds(field, least: 1, most: 86_400) else { return }
        settings.append { $0.codeLifetime = lifetime }
      case .crossSiteLogin:
        guard let isCrossSite = flag(field) else { return }
        settings.append { $0.crossSiteLogin = isCrossSite }
      case .pkce:
        guard let pkce = choice(field, UpstreamPKCE.self) else { return }
        usesPKCE = pkce == .forward
        settings.append { $0.usesPKCE = pkce == .forward }
      case .scopes:
        let rules = scopes(field)
        settings.append { $0.scopes = rules }
      case .parameters:
        let names = parameters(field)
        settings.append { $0.parameters = names }
      case .maxConnections:
        guard let count = number(field, 1...1_000_000) else { return }
        settings.append {
          $0.maxConnections = count
          $0.reservedConnections = UpstreamSettings.reserved(of: count)
        }
      case .reservedConnections: reserved = number(field, 0...1_000_000).map { ($0, field.node) }
      case .connectTimeout:
        guard let time = duration(field, 10...600_000) else { return }
        settings.append { $0.connectTimeout = time }
      case .responseTimeout:
        guard let time = duration(field, 10...86_400_000) else { return }
        settings.append { $0.responseTimeout = time }
      case .upgrades:
        let protocols = upgrades(field)
        settings.append { $0.upgrades = protocols }
      case .stripHeaders:
        let globs = headerGlobs(field)
        settings.append { $0.strippedHeaders = globs }
      case .keepHeaders:
        let globs = headerGlobs(field)
        settings.append { $0.keptHeaders = globs }
      }
    }
    guard isMapping else { return }
    lintCallback(networkCallback, risk: callbackRisk, usesPKCE: usesPKCE)
    if !named.contains(.url) { missing(UpstreamKey.url, field.key, in: "`upstream`", "its URL") }
    if !named.contains(.endpoints) {
      missing(UpstreamKey.endpoints, field.key, in: "`upstream`", "a mapping with `authorization` and `token`")
    }
    guard let origin else { return }
    var upstream = UpstreamSettings(origin: origin, endpoints: endpoints)
    for set in settings { set(&upstream) }
    upstream.notEndpoints = notEndpoints.map(\.path)
    if upstream.pass.isEmpty { everythingPassed = Place(field.key) }
    checkNotEndpoints(notEndpoints, endpoints)
    if let urlField { upstream.tls = finishUpstreamTLS(tls, origin, urlField) }
    if let reserved {
      if reserved.value >= upstream.maxConnections {
        error(
          .conflict, reserved.node,
          "`reserved_connections` \(reserved.value) leaves none of `max_connections` \(upstream.maxConnections) to requests "
            + "that pass; make it smaller")
      }
      upstream.reservedConnections = reserved.value
    }
    self.upstream = upstream
  }

  /// Without a challenge that binds the upstream's code to its sign-in, a program that sees the code first brings it in a
  /// sign-in of its own and redeems it there.
  private func lintCallback(_ callback: YAMLNode?, risk: YAMLNode?, usesPKCE: Bool) {
    if let risk, callback == nil || usesPKCE {
      warn(
        .networkCallback, risk,
        "`callback_risk` has no effect without `callback: network`, or where the upstream gets a challenge; remove it")
    }
    guard let callback else { return }
    if usesPKCE || risk != nil {
      warn(
        .networkCallback, callback,
        "`callback: network` lets the browser see the upstream's raw codes; use `in_place` unless the upstream "
          + "answers by script, by form_post or from another origin")
    } else {
      error(
        .networkCallback, callback,
        "`callback: network` lets the browser see the upstream's raw codes, and without PKCE another program can redeem "
          + "one; use `in_place`, or `pkce: forward` if the upstream understands PKCE, or accept this with "
          + "`callback_risk: accepted`")
    }
  }

  private func upstreamOrigin(_ field: Field) -> Origin? {
    guard let url = url(field) else { return nil }
    guard url.path.isEmpty || url.path == "/" else {
      error(
        .invalidValue, field.node,
        "`url` cannot have a path; use `\(url.origin)` and put the path into `endpoints`")
      return nil
    }
    switch url.origin.scheme {
    case .http where !url.origin.isLoopback:
      warn(
        .plaintextUpstream, field.node,
        "codes and secrets travel to `\(url.origin.host)` in the clear; use https, or run the gateway beside the "
          + "upstream")
    case .http, .https:
      break
    }
    return url.origin
  }

  private func stateLimit(_ field: Field) -> Int? {
    // 14 characters hold 80 bits, the least that a handle may have; 64 KiB is more than any server reads in a line.
    guard let limit = size(field, 14...65_536) else { return nil }
    if limit < 22 {
      warn(
        .shortStateLimit, field.node,
        "`state_limit` \(limit) leaves handles with \(limit * 6) bits instead of 128; raise it if the upstream can")
    }
    return limit
  }

  private func parameters(_ field: Field) -> Set<String> {
    var names: Set<String> = []
    for item in list(field, orSingle: true) {
      guard let name = text(item) else { continue }
      // These carry the decision or the proof: the gateway alone says what they are upstream.
      let own = [
        "client_id", "client_secret", "code_challenge", "code_challenge_method", "code_verifier", "redirect_uri",
        "request", "request_uri", "response_mode", "response_type", "state",
      ]
      guard !own.contains(name) else {
        error(
          .invalidValue, item.node,
          "`parameters` cannot hold \(quoted(name)), which the gateway sets itself; remove it")
        continue
      }
      if !names.insert(name).inserted {
        error(.duplicateValue, item.node, "\(quoted(name)) occurs twice in `parameters`; keep one")
      }
    }
    return names
  }

  private func upgrades(_ field: Field) -> Set<String> {
    var protocols: Set<String> = []
    for item in list(field, orSingle: true) {
      guard let name = text(item) else { continue }
      let isToken = name.utf8.allSatisfy { byte in
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
          || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "/")
      }
      // Inside an h2c connection the gateway would not see the requests any more.
      guard isToken, name != "h2c" else {
        error(
          .invalidValue, item.node,
          "`upgrades` cannot hold \(quoted(name)); use lower-case protocol names such as `websocket`")
        continue
      }
      protocols.insert(name)
    }
    return protocols
  }
}
