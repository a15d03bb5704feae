/// The keys of one mapping of the format. The reader switches over them, so what is listed here is what is read, and
/// `policies/proofgate.schema.json` is tested against it.
protocol SectionKey: RawRepresentable<String>, CaseIterable, Sendable {
  /// The name of the mapping in messages and in the schema.
  static var section: String { get }
}

enum RootKey: String, SectionKey {
  static let section = "policy"
  case version, gateway, upstream, enforcement, clients
}

enum GatewayKey: String, SectionKey {
  static let section = "gateway"
  case origin, issuer, listeners, http2, admin, workers, replicas, store, branding, limits
  case sealingKeys = "sealing_keys"
  case trustedProxies = "trusted_proxies"
  case halfClose = "half_close"
  case drainDelay = "drain_delay"
  case drainTimeout = "drain_timeout"
  case strictTransport = "strict_transport_security"
}

enum ListenerKey: String, SectionKey {
  static let section = "listener"
  case address, tls
  case proxyProtocol = "proxy_protocol"
}

enum TLSKey: String, SectionKey {
  static let section = "tls"
  case certificate, certificates, ciphers
  case privateKey = "private_key"
  case minVersion = "min_version"
  case clientAuthorities = "client_ca"
  case clientCertificate = "client_certificate"
  case handshakeTimeout = "handshake_timeout"
}

/// An item of `certificates`.
enum CertificateKey: String, SectionKey {
  static let section = "certificate"
  case certificate
  case privateKey = "private_key"
}

enum StrictTransportKey: String, SectionKey {
  static let section = "strict_transport_security"
  case maxAge = "max_age"
  case includeSubdomains = "include_subdomains"
}

enum UpstreamTLSKey: String, SectionKey {
  static let section = "upstream_tls"
  case certificate
  case authorities = "ca"
  case serverName = "server_name"
  case privateKey = "private_key"
  case minVersion = "min_version"
}

enum BrandingKey: String, SectionKey {
  static let section = "branding"
  case name
  case supportURL = "support_url"
}

enum LimitKey: String, SectionKey {
  static let section = "limits"
  case body, connections
  case headerBytes = "header_bytes"
  case headerFields = "header_fields"
  case targetLength = "target_length"
  case headerTimeout = "header_timeout"
  case bodyTimeout = "body_timeout"
  case idleTimeout = "idle_timeout"
  case requestTimeout = "request_timeout"
  case minimumRate = "minimum_rate"
  case connectionsPerAddress = "connections_per_address"
  case requestsPerConnection = "requests_per_connection"
  case concurrentStreams = "concurrent_streams"
  case streamResets = "stream_resets"
  case controlFrames = "control_frames"
  case maxBufferMemory = "max_buffer_memory"
  case tokenRequestsPerClient = "token_requests_per_client"
  case tokenRequestsPerAddress = "token_requests_per_address"
}

/// The mapping form of `store`.
enum StoreKey: String, SectionKey {
  static let section = "store"
  case memory
}

enum FileKey: String, SectionKey {
  static let section = "file"
  case file
}

enum SecretKey: String, SectionKey {
  static let section = "secret"
  case file, env
}

enum UpstreamKey: String, SectionKey {
  static let section = "upstream"
  case url, endpoints, callback, pass, pkce, scopes, parameters, upgrades, tls
  case callbackRisk = "callback_risk"
  case notEndpoints = "not_endpoints"
  case stateLimit = "state_limit"
  case codeLifetime = "code_lifetime"
  case crossSiteLogin = "cross_site_login"
  case maxConnections = "max_connections"
  case reservedConnections = "reserved_connections"
  case connectTimeout = "connect_timeout"
  case responseTimeout = "response_timeout"
  case stripHeaders = "strip_headers"
  case keepHeaders = "keep_headers"
}

enum EndpointKey: String, SectionKey {
  static let section = "endpoints"
  case authorization, token, revocation, introspection, registration
  case pushedAuthorization = "pushed_authorization"
  case deviceAuthorization = "device_authorization"
}

enum EnforcementKey: String, SectionKey {
  static let section = "enforcement"
  case mode, redirects, state, localhost, schemes, profile
  case unknownClients = "unknown_clients"
  case unlistedOAuth = "unlisted_oauth"
  case pkceMethods = "pkce_methods"
  case pkceSyntax = "pkce_syntax"
  case embeddedUserAgents = "embedded_user_agents"
  case codeLifetime = "code_lifetime"
  case deviceCodeLifetime = "device_code_lifetime"
  case refreshReuseWindow = "refresh_reuse_window"
  case refreshIdle = "refresh_idle"
  case rawRefreshUntil = "raw_refresh_until"
  case pushedAuthorization = "pushed_authorization"
  case fragmentGuard = "fragment_guard"
}

/// `scopes` of `upstream`, and of a client's `upstream`.
enum ScopeKey: String, SectionKey {
  static let section = "scopes"
  case drop
  case `default`
}

/// The mapping form of `clients:`, and an entry of its list form.
enum IncludeKey: String, SectionKey {
  static let section = "include"
  case include
}

/// A file that `include:` names, in its mapping form.
enum IncludedFileKey: String, SectionKey {
  static let section = "included_file"
  case clients
}

enum ClientKey: String, SectionKey {
  static let section = "client"
  case id, name, type, application, platform, grants, pkce, upstream, consent, secret, mode, state, localhost, schemes
  case profile, trusted
  case reliesOnNonce = "relies_on_nonce"
  case redirectURIs = "redirect_uris"
  case responseModes = "response_modes"
  case pkceMethods = "pkce_methods"
  case pkceSyntax = "pkce_syntax"
  case embeddedUserAgents = "embedded_user_agents"
  case codeLifetime = "code_lifetime"
  case deviceCodeLifetime = "device_code_lifetime"
  case refreshReuseWindow = "refresh_reuse_window"
  case refreshReuseNetworks = "refresh_reuse_networks"
  case refreshIdle = "refresh_idle"
  case rawRefreshUntil = "raw_refresh_until"
  case pushedAuthorization = "pushed_authorization"
  case fragmentGuard = "fragment_guard"
}

enum ClientUpstreamKey: String, SectionKey {
  static let section = "client_upstream"
  case authentication, scopes
  case clientID = "client_id"
  case clientSecret = "client_secret"
  case redirectURI = "redirect_uri"
}
