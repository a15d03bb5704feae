/// The legacy authorization server (`upstream:` in the policy file).
public struct UpstreamSettings: Sendable {
  public var origin: Origin
  public var endpoints: Endpoints
  public var callback: CallbackMode
  /// Prefixes that are proxied; empty: everything.
  public var pass: [String]
  /// Paths that only look like an endpoint, such as `/oauth/token_key`; `*` is one segment of any value.
  public var notEndpoints: [String]
  /// Bytes of `state` that the server accepts; a longer sealed state is kept in the store behind a handle.
  public var stateLimit: Int
  /// Seconds that the server takes a code: its digest is remembered for so long.
  public var codeLifetime: Int
  /// True if the sign-in ends with a form of another site: the gateway's cookie then has `SameSite=None`.
  public var crossSiteLogin: Bool
  /// True if the server understands PKCE: the gateway then sends a challenge of its own for every transaction. The
  /// client's challenge is never forwarded.
  public var usesPKCE: Bool
  /// The difference between the scopes of apps and of the server; `nil` for none.
  public var scopes: ScopeRules?
  /// Authorization request parameters forwarded beside OAuth's and OpenID Connect Core's.
  public var parameters: Set<String>
  /// Process-wide.
  public var maxConnections: Int
  /// Of these, so many are kept for the OAuth endpoints.
  public var reservedConnections: Int
  /// Milliseconds.
  public var connectTimeout: Int
  /// Milliseconds from the last request byte to the response head.
  public var responseTimeout: Int
  /// Protocols that an `Upgrade` may name, lower case, e.g. `websocket`; empty: no upgrades.
  public var upgrades: Set<String>
  /// Globs of names of request fields that only a trusted proxy may send, besides the built-in ones.
  public var strippedHeaders: [String]
  /// Globs of names of request fields that every client may send, although a built-in glob matches.
  public var keptHeaders: [String]
  /// `nil` exactly for an http origin.
  public var tls: UpstreamTLS?

  public init(
    origin: Origin, endpoints: Endpoints, callback: CallbackMode = .inPlace, pass: [String] = [],
    notEndpoints: [String] = [], stateLimit: Int = 2048, codeLifetime: Int = 600, crossSiteLogin: Bool = false,
    usesPKCE: Bool = false, scopes: ScopeRules? = nil, parameters: Set<String> = [], maxConnections: Int = 1024,
    reservedConnections: Int? = nil, connectTimeout: Int = 5_000, responseTimeout: Int = 60_000,
    upgrades: Set<String> = [], strippedHeaders: [String] = [], keptHeaders: [String] = [], tls: UpstreamTLS? = nil
  ) {
    self.origin = origin
    self.endpoints = endpoints
    self.callback = callback
    self.pass = pass
    self.notEndpoints = notEndpoints
    self.stateLimit = stateLimit
    self.codeLifetime = codeLifetime
    self.crossSiteLogin = crossSiteLogin
    self.usesPKCE = usesPKCE
    self.scopes = scopes
    self.parameters = parameters
    self.maxConnections = maxConnections
    self.reservedConnections = reservedConnections ?? UpstreamSettings.reserved(of: maxConnections)
    self.connectTimeout = connectTimeout
    self.responseTimeout = responseTimeout
    self.upgrades = upgrades
    self.strippedHeaders = strippedHeaders
    self.keptHeaders = keptHeaders
    self.tls = tls
  }
}

extension UpstreamSettings {
  /// What is kept for the OAuth endpoints where the policy does not say: an eighth.
  public static func reserved(of connections: Int) -> Int { connections / 8 }
}

/// Paths of the server's OAuth endpoints, each as written in its documentation, beginning with a slash.
public struct Endpoints: Sendable {
  public var authorization: [String]
  public var token: [String]
  public var revocation: [String]
  public var introspection: [String]
  /// Where the gateway itself takes pushed authorization requests (RFC 9126); nothing there ever goes to the server.
  public var pushedAuthorization: [String]
  /// Endpoints that the gateway does not police and therefore answers with 404: device authorization and dynamic
  /// registration of the upstream's own, and pushed authorization requests where no client may push.
  public var closed: [String]

  public init(
    authorization: [String], token: [String], revocation: [String] = [], introspection: [String] = [],
    pushedAuthorization: [String] = [], closed: [String] = []
  ) {
    self.authorization = authorization
    self.token = token
    self.revocation = revocation
    self.introspection = introspection
    self.pushedAuthorization = pushedAuthorization
    self.closed = closed
  }
}

/// Where the upstream's answer is completed (`I-completion`).
public enum CallbackMode: String, Sendable, CaseIterable {
  /// In the passing response: browsers never see a raw code.
  case inPlace = "in_place"
  /// At the callback, for upstreams that answer by script or form_post or from another origin.
  case network
}
