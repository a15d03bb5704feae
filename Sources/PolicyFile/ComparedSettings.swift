import Cryptography
import OAuth
import Policy

/// The value of a setting with a custom reader, for the comparison of two policies.
enum ComparedValue: Equatable {
  /// A text; `nil` if the setting has no value.
  case text(String?)
  /// The items of a list.
  case list([String])
  /// The digest of a secret or of a file; `nil` if the setting has no value.
  case digest([UInt8]?)

  static func secret(_ secret: Secret?) -> ComparedValue { .digest(secret.map { sha256(Array($0.reveal().utf8)) }) }

  static func certificates(_ chain: CertificateChain?) -> ComparedValue { .digest(chain?.fingerprints) }

  static func flag(_ value: Bool) -> ComparedValue { .text(value ? "true" : "false") }
}

/// For each table, the values of its settings with a custom reader, by the keys of the settings. Mappings that have a table
/// of their own are compared by it, and are not here.
enum ComparedSettings {
  typealias Of<Root> = [String: @Sendable (Root) -> ComparedValue]

  static let gateway: Of<GatewaySettings> = [
    "origin": { .text($0.origin.description) },
    "issuer": { .text($0.issuer) },
    "listeners": { .list($0.listeners.map { "\($0.address)" }) },
    "admin": { .text($0.admin?.description ?? "off") },
    "admin_hosts": { .list($0.adminHosts) },
    "store": { .text(location(of: $0.store)) },
    "store_password": { .secret(redis($0)?.password) },
    "store_sentinel_password": { .secret(redis($0)?.sentinelPassword) },
    "store_ca": { .certificates(redis($0)?.authorities) },
    "store_key_prefix": { .text(redis($0)?.keyPrefix) },
    "sealing_keys": { .text($0.sealingKeys?.path) },
    "trusted_proxies": { .list($0.trustedProxies.map(text)) },
    "log_spool": { .text($0.logSpool) },
    "scopes_supported": { .list($0.supportedScopes ?? []) },
    "cors_origins": { .list($0.corsOrigins.map(\.description)) },
  ]

  static let accessLog: Of<AccessLogSettings> = ["to": { .text(text($0.destination)) }]

  private static func text(_ destination: AccessLogSettings.Destination) -> String {
    switch destination {
    case .standardOutput: "stdout"
    case .file(let path): "file \(path)"
    case .syslog(let syslog): "syslog \(syslog.path), \(syslog.facility.rawValue), \(syslog.severity.rawValue)"
    }
  }

  private static func text(_ range: AddressRange) -> String {
    let bytes = range.network
    if bytes == AddressRange.unixSockets.network, range.prefixLength == 128 { return "unix" }
    if range.prefixLength >= 96, bytes.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff] {
      return bytes.suffix(4).map { String($0) }.joined(separator: ".") + "/\(range.prefixLength - 96)"
    }
    let groups = stride(from: 0, to: bytes.count, by: 2).map { Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]) }
    return groups.map { String($0, radix: 16) }.joined(separator: ":") + "/\(range.prefixLength)"
  }

  private static func redis(_ settings: GatewaySettings) -> RedisSettings? {
    guard case .redis(let redis) = settings.store else { return nil }
    return redis
  }

  private static func location(of store: StoreLocation) -> String {
    switch store {
    case .memory(let size): "memory (\(size) bytes)"
    case .file(let path, let size): "\(path) (\(size) bytes)"
    case .redis(let redis):
      "redis \(redis.endpointName)\(redis.usesTLS ? " with TLS" : ""), database \(redis.database), user "
        + (redis.user ?? "not set")
    }
  }

  static let branding: Of<Branding> = [
    "support_url": { .text($0.supportURL) },
    "logo": { .digest($0.logo.map { sha256(Array($0.type.utf8) + $0.content) }) },
    "color": { .text($0.color?.text) },
    "dark_color": { .text($0.darkColor?.text) },
    "texts": { branding in
      .digest(
        sha256(
          branding.texts.flatMap { texts in
            Array((texts.language + "\n").utf8)
              + texts.texts.sorted { $0.key < $1.key }.flatMap { Array("\($0.key)\n\($0.value)\n".utf8) }
          }))
    },
    "default_language": { .text($0.defaultLanguage) },
  ]

  static let listener: Of<ListenerSettings> = [
    "address": { .text("\($0.address)") },
    "owner": { listener in
      .text(listener.unixSocket.owner.map { ($0.user ?? "") + ($0.group.map { ":" + $0 } ?? "") })
    },
    "mode": { .text("0" + String($0.unixSocket.mode, radix: 8)) },
    "local": { .flag($0.unixSocket.isLocal) },
  ]

  static let listenerTLS: Of<ListenerTLS> = [
    "certificate": { .certificates($0.certificates.first?.chain) },
    "certificates": { .digest($0.certificates.dropFirst().flatMap(\.chain.fingerprints)) },
    "ciphers": { .list($0.ciphers.map(\.rawValue)) },
    "client_ca": { .certificates($0.clientAuthorities) },
  ]

  static let upstream: Of<UpstreamSettings> = [
    "url": { .text($0.url) },
    "urls": { .list($0.servers.map(\.url)) },
    "affinity": { .text($0.affinity.map(text)) },
    "host": { .text(text($0.effectiveHost)) },
    "failure_statuses": { .list($0.failureStatuses.map(String.init)) },
    "parameters": { .list($0.parameters.sorted()) },
    "response_parameters": { .list($0.responseParameters) },
    "errors": { .list(entries(of: $0.errors)) },
    "upgrades": { .list($0.upgrades.sorted()) },
    "strip_headers": { .list($0.strippedHeaders) },
    "keep_headers": { .list($0.keptHeaders) },
  ]

  static let healthCheck: Of<HealthCheckSettings> = [
    "path": { .text($0.path) },
    "statuses": { .list($0.statuses.map(String.init)) },
  ]

  private static func entries(of errors: UpstreamErrors) -> [String] {
    (errors.words.map { "\($0.key): \($0.value.rawValue)" } + errors.byStatus.map { "\($0.key): \($0.value.rawValue)" })
      .sorted()
  }

  private static func text(_ host: UpstreamHost) -> String {
    switch host {
    case .origin: "origin"
    case .upstream: "upstream"
    case .name(let name): name
    }
  }

  private static func text(_ affinity: AddressAffinity) -> String {
    switch affinity {
    case .none: "none"
    case .clientAddress: "address"
    case .cookie(let name): name
    }
  }

  static let upstreamTLS: Of<UpstreamTLS> = [
    "ca": { .certificates($0.authorities) },
    "server_name": { .text($0.serverName) },
    "certificate": { .certificates($0.certificate?.chain) },
    "min_version": { .text($0.minimumVersion.rawValue) },
  ]

  static let endpoints: Of<EndpointPaths> = ["registration": { .list($0.closed) }]

  static let scopes: Of<ScopeRules> = [
    "drop": { .list($0.drop?.sorted() ?? []) },
    "default": { .text($0.defaultScope?.text ?? ($0.hasDefault ? "" : nil)) },
    "add": { .list($0.added ?? []) },
  ]

  static let registration: Of<RegistrationSettings> = [
    "path": { .text($0.path) },
    "scopes": { .list($0.rules.scopes) },
    "resources": { .list($0.rules.resources) },
    "initial_access_token": { .secret($0.initialAccessToken) },
  ]

  static let documents: Of<ClientDocumentSettings> = [
    "urls": { .list($0.urls) },
    "scopes": { .list($0.rules.scopes) },
    "resources": { .list($0.rules.resources) },
    "ca": { .certificates($0.authorities) },
  ]

  static let unlistedRedirects: Of<UnlistedRedirects> = [
    "https": { .list($0.anyHost ? ["any"] : $0.hosts) },
    "schemes": { .list(($0.anyScheme ? ["any"] : []) + $0.schemes) },
  ]

  static let deny: Of<ClientDenyList> = [
    "ids": { .list($0.ids.sorted()) },
    "hosts": { .list($0.hosts) },
    "schemes": { .list($0.schemes) },
    "names": { .list($0.names) },
  ]

  static let resource: Of<ResourceSettings> = [
    "uri": { .text($0.uri.text) },
    "aliases": { .list($0.aliases.map(\.text)) },
    "scopes": { .list($0.scopes) },
    "check": { .text($0.check?.description) },
    "check_scopes": { .list($0.checkScopes) },
  ]

  static let resourceUpstream: Of<ResourceUpstream> = ["scopes": { .text($0.scope?.text) }]

  static let route: Of<RouteSettings> = [
    "prefix": { .text($0.prefix) },
    "request_buffer": { .text($0.requestBuffer.map { $0 == 0 ? "off" : "\($0)" }) },
  ]

  /// Values are digests, because a field for the server may contain a secret.
  static let headerChanges: Of<HeaderChanges> = [
    "set": { changes in .digest(sha256(changes.set.flatMap { Array("\($0.name): \($0.value)\n".utf8) })) },
    "remove": { .list($0.removed) },
  ]

  static let resourceServer: Of<ResourceServer> = [
    "id": { .text($0.id) },
    "secret": { .secret($0.secret) },
  ]

  static let client: Of<ClientSettings> = [
    "id": { .text($0.id.rawValue) },
    "redirect_uris": { .list($0.redirectURIs.map(\.text)) },
    "grants": { .list($0.grants.map(\.rawValue).sorted()) },
    "secret": { .secret($0.secret) },
    "schemes": { .list($0.listedSchemes.isEmpty ? [$0.enforcement.schemes.rawValue] : $0.listedSchemes) },
  ]

  static let upstreamClient: Of<UpstreamClient> = [
    "client_id": { .text($0.clientID.rawValue) },
    "client_secret": { .secret($0.clientSecret) },
    "redirect_uri": { client in
      switch client.redirectURI {
      case .callback: .text("callback")
      case .requested: .text("requested")
      case .fixed(let uri): .text(uri)
      }
    },
  ]
}
