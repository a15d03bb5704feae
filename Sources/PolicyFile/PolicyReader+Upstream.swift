import OAuth
import Policy
import YAML

/// The mapping `upstream:`, before its settings are compared with each other.
private struct UpstreamDraft: SectionDraft {
  var settings = UpstreamSettings()
  /// The value of `url`.
  var server: UpstreamServer?
  /// The values of `urls`.
  var servers: [UpstreamServer]?
  var tls: (draft: UpstreamTLSDraft, field: Field)?

  /// The parser of the mapping. In each function, `$0` is the policy reader, `$1` the field, and `$2` the draft.
  static let section = Section<UpstreamDraft>(
    UpstreamSettings.table,
    [
      "url": { $2.server = $0.upstreamServer($1) },
      "urls": { $2.servers = $0.upstreamServers($1) },
      "affinity": { $2.settings.affinity = $0.addressAffinity($1) },
      "host": { $2.settings.host = $0.upstreamHost($1) },
      "failure_statuses": { $2.settings.failureStatuses = $0.failureStatuses($1) },
      "health_check": { $2.settings.healthCheck = $0.healthCheck($1) },
      "kind": { reader, field, _ in reader.checkKind(field) },
      "endpoints": { $2.settings.endpoints = $0.endpoints($1, $2.settings.endpoints) },
      "scopes": { $2.settings.scopes = $0.scopes($1) },
      "parameters": { $2.settings.parameters = $0.parameters($1) },
      "response_parameters": { $2.settings.responseParameters = $0.responseParameters($1) },
      "errors": { $2.settings.errors = $0.upstreamErrors($1) },
      "upgrades": { $2.settings.upgrades = $0.upgrades($1) },
      "strip_headers": { $2.settings.strippedHeaders = $0.headerGlobs($1) },
      "keep_headers": { $2.settings.keptHeaders = $0.headerGlobs($1) },
      "tls": { $2.tls = ($0.upstreamTLS($1), $1) },
    ])
}

extension PolicyReader {
  func readUpstream(_ field: Field) {
    var draft = UpstreamDraft()
    if let preset = preset(in: field.node) { draft.settings = preset.settings }
    guard let fields = read(field.node, UpstreamDraft.section, into: &draft) else { return }
    requireSettings(of: UpstreamDraft.section, in: fields, field.key, named: "`upstream`")
    checkServers(fields, draft.servers?.count, field.key)
    if fields["endpoints"] == nil {
      if let kind = fields["kind"] {
        // The reader has reported a `kind` without a preset.
        endpointsLocation = SourceLocation(kind.key)
      } else {
        reportMissing("endpoints", field.key, in: "`upstream`", "a mapping with `authorization` and `token`")
      }
    }
    var upstream = draft.settings
    recordDefaultScope(of: upstream.scopes, fields["scopes"])
    lint(upstream, fields)
    guard let url = fields["url"] ?? fields["urls"], let server = draft.server ?? draft.servers?.first else { return }
    upstreamURLLocation = SourceLocation(url.node)
    switch server {
    case .origin(let origin): upstream.origin = origin
    case .unixSocket(let path):
      upstream.unixSocket = path
      upstream.origin = originOfUnixSocket(draft.tls)
      if let servers = draft.servers { checkSchemes(of: servers, url, usesTLS: draft.tls != nil) }
    }
    upstream.otherServers = Array((draft.servers ?? []).dropFirst())
    upstream.tls = finishUpstreamTLS(draft.tls, upstream.origin, url)
    if upstream.passPrefixes.contains("/") {
      missingPassLocation = SourceLocation(fields["pass"]?.node ?? field.key)
    }
    checkCompletionPaths(upstream, fields, field.key)
    if let field = fields["not_endpoints"] { checkNotEndpoints(field, upstream) }
    if let reserved = upstream.configuredReservedConnections, let field = fields["reserved_connections"],
      reserved >= upstream.maxConnections
    {
      error(
        .conflict, field.node,
        "`reserved_connections` \(reserved) leaves none of `max_connections` \(upstream.maxConnections) for other "
          + "requests; make it smaller")
    }
    self.upstream = upstream
  }

  private func lint(_ upstream: UpstreamSettings, _ fields: Fields) {
    lintCallback(upstream, fields)
    // A handle (the key of a stored state) of 22 characters has 132 bits. The table of settings permits lower limits,
    // down to 14 characters (84 bits).
    if upstream.stateLimit < 22, let field = fields["state_limit"] {
      warn(
        .shortStateLimit, field.node,
        "`state_limit` \(upstream.stateLimit) leaves handles with \(upstream.stateLimit * 6) bits instead of 128; raise "
          + "it if the upstream can")
    }
  }

  /// Reports `callback: network`, and a `callback_risk` without effect. With `network`, a program that sees another
  /// user's upstream code can start its own sign-in, present the code at the gateway's callback and get that user's
  /// tokens, unless the upstream checks a code challenge.
  private func lintCallback(_ upstream: UpstreamSettings, _ fields: Fields) {
    let completesAtCallback = upstream.callback == .atCallback
    if let field = fields.valid("callback_risk"), !completesAtCallback || upstream.usesPKCE {
      warn(
        .networkCallback, field.node,
        "`callback_risk` has no effect without `callback: network`, or where the upstream gets a challenge; remove it")
    }
    guard completesAtCallback, let field = fields["callback"] else { return }
    if upstream.usesPKCE || upstream.callbackRisk != nil {
      warn(
        .networkCallback, field.node,
        "`callback: network` lets the browser see the upstream's raw codes; use `in_place` unless the upstream "
          + "answers by script, by form_post or from another origin")
    } else {
      error(
        .networkCallback, field.node,
        "`callback: network` lets the browser see the upstream's raw codes, and without PKCE another program can redeem "
          + "one; use `in_place`, or `pkce: forward` if the upstream understands PKCE, or accept this with "
          + "`callback_risk: accepted`")
    }
  }

  /// Reports entries of `completion_paths` that servers read in several ways. Records a policy without the setting whose
  /// server is not one of a preset, and one that lists every path.
  private func checkCompletionPaths(_ upstream: UpstreamSettings, _ fields: Fields, _ key: YAMLNode) {
    for node in fields["completion_paths"]?.items ?? [] {
      guard let path = node.text, let problem = Self.prefixProblem(path) ?? (path.contains("*") ? Self.noPattern : nil)
      else { continue }
      error(.invalidValue, node, "`completion_paths` cannot be \(quoted(path)); \(problem)")
    }
    guard upstream.callback == .inPlace else { return }
    if let field = fields["completion_paths"] {
      if upstream.completionPaths.contains("/") { openCompletionLocation = SourceLocation(field.node) }
    } else if fields["kind"] == nil {
      missingCompletionLocation = SourceLocation(key)
    }
  }

  /// Returns the origin of a server on a Unix socket, which has no host of its own.
  private func originOfUnixSocket(_ tls: (draft: UpstreamTLSDraft, field: Field)?) -> Origin {
    guard let tls else { return Origin(scheme: .http, host: "localhost") }
    if tls.draft.serverName == nil {
      reportMissing("server_name", tls.field.key, in: "`tls`", "the name in the server's certificate")
    }
    return Origin(scheme: .https, host: tls.draft.serverName ?? "localhost")
  }

  fileprivate func parameters(_ field: Field) -> Set<String> {
    var names: Set<String> = []
    for item in list(field, allowsSingleValue: true) {
      guard let name = text(item) else { continue }
      // The gateway's decision depends on these parameters, so only the gateway sets them in a request to the upstream.
      let parametersOfGateway = [
        "client_id", "client_secret", "code_challenge", "code_challenge_method", "code_verifier", "redirect_uri",
        "request", "request_uri", "response_mode", "response_type", "state",
      ]
      guard !parametersOfGateway.contains(name) else {
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

  fileprivate func responseParameters(_ field: Field) -> [String] {
    var names: [String] = []
    for item in list(field, allowsSingleValue: true) {
      guard let name = text(item) else { continue }
      if !ResponseParameters.isName(name) {
        error(
          .invalidValue, item.node,
          "`response_parameters` cannot hold \(quoted(name)); use names of letters, digits, `-`, `.` and `_`, of at most "
            + "\(ResponseParameters.maximumNameLength) characters")
      } else if ResponseParameters.isReserved(name) {
        error(
          .invalidValue, item.node,
          "`response_parameters` cannot hold \(quoted(name)), which the gateway sets or reads itself; remove it")
      } else if names.contains(name) {
        error(.duplicateValue, item.node, "\(quoted(name)) occurs twice in `response_parameters`; keep one")
      } else {
        names.append(name)
      }
    }
    if names.count > ResponseParameters.maximumCount {
      error(
        .invalidValue, field.node,
        "`response_parameters` has \(names.count) names; use at most \(ResponseParameters.maximumCount)")
    }
    return names
  }

  fileprivate func upstreamErrors(_ field: Field) -> UpstreamErrors {
    var errors = UpstreamErrors()
    guard field.node.kind == .mapping else {
      error(
        .wrongType, field.node,
        "`errors` must be a mapping of words to OAuth errors, such as `{ OAuthException: invalid_grant }`, not "
          + withArticle(field.node.kind))
      return errors
    }
    let codes = UpstreamErrors.codes.map(\.rawValue)
    for entry in field.node.entries {
      guard let word = entry.key.text else { continue }
      guard !word.isEmpty, word.utf8.count <= UpstreamErrors.maximumLength else {
        error(
          .invalidValue, entry.key,
          "`errors` cannot hold \(quoted(word)); use words of 1 to \(UpstreamErrors.maximumLength) bytes")
        continue
      }
      // The gateway answers 429 as such, because it says nothing about the code or token.
      guard word != "429" else {
        error(
          .invalidValue, entry.key, "`errors` cannot hold `429`, which says nothing about the code or token; remove it")
        continue
      }
      guard let text = text(Field(name: word, key: entry.key, node: entry.value)) else { continue }
      guard codes.contains(text), let code = OAuthErrorCode(rawValue: text) else {
        error(.invalidValue, entry.value, "\(quoted(word)) cannot be \(quoted(text)); use \(oneOf(codes))")
        continue
      }
      errors.add(word, code)
    }
    if field.node.count > UpstreamErrors.maximumCount {
      error(
        .invalidValue, field.node,
        "`errors` has \(field.node.count) entries; use at most \(UpstreamErrors.maximumCount)")
    }
    return errors
  }

  fileprivate func upgrades(_ field: Field) -> Set<String> {
    var protocols: Set<String> = []
    for item in list(field, allowsSingleValue: true) {
      guard let name = text(item) else { continue }
      let isToken = name.utf8.allSatisfy { byte in
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
          || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "/")
      }
      // After an upgrade to HTTP/2 the gateway could not check the requests on the connection.
      guard isToken, !["h2", "h2c"].contains(name) else {
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
