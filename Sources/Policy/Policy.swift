public import OAuth

/// The settings that the operator has chosen. A policy is immutable, and every worker reads it without a lock.
///
/// The reader in `PolicyFile` creates it from YAML and validates it, so code that has a `Policy` does not validate it
/// again.
///
/// This is a class because every decision uses the policy, and a copy of a struct would retain and release every string
/// and collection in it.
public final class Policy: Sendable {
  /// The settings of the gateway process.
  public let gateway: GatewaySettings
  /// The settings of the legacy authorization server.
  public let upstream: UpstreamSettings
  /// The settings of `enforcement:`. The rules that apply to a client are in the settings of the client.
  public let enforcement: PolicyEnforcement
  /// The clients by their ids.
  public let clients: [ClientID: Client]
  /// The protected resources; empty if the gateway does not restrict `resource`.
  public let resources: ResourceTable
  /// The settings of dynamic client registration; `nil` if clients cannot register.
  public let registration: RegistrationSettings?
  /// The settings for clients whose id is the URL of a metadata document; `nil` if there are none.
  public let clientDocuments: ClientDocumentSettings?
  /// The limits and header fields of passing requests by path.
  public let routes: [RouteSettings]
  /// The gateway's callback: its redirect URI at the legacy server.
  public let callback: String
  /// A short hash of the files of the policy, which metrics and logs show as its version.
  public let version: String
  /// The upstream ids, of clients and of resources, whose upstream secret the gateway holds. If the client id of a request is such an
  /// upstream id, and the policy lists no client with this id, the request gets a specific rejection instead of the one
  /// for unknown clients. If a client with this upstream id is enforced, the request is refused even if the policy only
  /// observes unknown clients.
  public let upstreamIDsWithHeldSecret: Set<ClientID>
  /// True if any client may push authorization requests. Otherwise the endpoint for them is closed.
  public let acceptsPushedRequests: Bool
  /// The place where the device flows of enforced clients run.
  public let devices: DeviceFlows
  /// True if any client blocks embedded user agents, so that the gateway checks each page of a sign-in.
  public let blocksEmbeddedUserAgents: Bool
  /// True if any listed client is enforced. If the policy lists no client: true if its default mode is `enforce` and it
  /// refuses unknown clients. If true, the gateway also refuses observed requests that could act for an enforced client
  /// (invariant `I-observe`).
  public let isEnforcing: Bool
  /// True if the default mode is `observe`, or if a listed client or unknown clients are observed.
  public let isObserving: Bool
  /// The ids and the upstream ids of enforced clients. Empty unless the policy enforces some requests and observes
  /// others.
  let enforcedIDs: FoldedIDs

  /// The places where device flows can run (RFC 8628).
  public enum DeviceFlows: Sendable {
    /// No enforced client may use the device grant.
    case off
    /// The gateway has the endpoints, in front of a server that has only the code flow.
    case atGateway
    /// The upstream has the endpoints, and the gateway checks and forwards requests.
    case atUpstream
  }

  /// The upstream clients that are not those of one client: of `registration`, `client_documents` and `resources`.
  /// Enforced clients act with them, so they are protected as the upstream clients of these.
  public let sharedUpstreamClients: [UpstreamClient]

  /// Creates a policy and derives the values that depend on all clients.
  ///
  /// - Parameter version: A hash of the files of the policy, for metrics and logs.
  public init(
    gateway: GatewaySettings, upstream: UpstreamSettings, enforcement: PolicyEnforcement, clients: [ClientID: Client],
    resources: [ResourceSettings] = [], registration: RegistrationSettings? = nil,
    clientDocuments: ClientDocumentSettings? = nil, routes: [RouteSettings] = [], version: String
  ) {
    self.gateway = gateway
    self.upstream = upstream
    self.enforcement = enforcement
    self.clients = clients
    self.resources = ResourceTable(resources)
    var (registration, clientDocuments) = (registration, clientDocuments)
    registration?.rules.ownHosts = gateway.hosts
    clientDocuments?.rules.ownHosts = gateway.hosts
    self.registration = registration
    self.clientDocuments = clientDocuments
    self.routes = routes
    let unlisted = [registration?.upstream, clientDocuments?.upstream].compactMap(\.self)
    sharedUpstreamClients = unlisted + self.resources.upstreamClients
    self.version = version
    callback = gateway.origin.description + GatewaySettings.ownPath + "callback"
    acceptsPushedRequests = clients.values.contains { $0.pushedAuthorization != .off }
    let hasDevices = clients.values.contains { $0.mode == .enforce && $0.grants.contains(.deviceCode) }
    devices = !hasDevices ? .off : upstream.endpoints.deviceAuthorization.isEmpty ? .atGateway : .atUpstream
    // Unlisted clients are always enforced.
    let unlistedRules = [registration?.rules, clientDocuments?.rules].compactMap(\.self)
    blocksEmbeddedUserAgents =
      unlistedRules.contains { $0.enforcement.embeddedUserAgents == .block }
      || clients.values.contains { $0.blocksEmbeddedUserAgents }
    let upstreams = clients.values.lazy.map(\.settings.upstream)
    let held = upstreams.map(\.self) + sharedUpstreamClients
    upstreamIDsWithHeldSecret = Set(held.filter { $0.clientSecret != nil }.map(\.clientID))
    let (mode, unknownClients) = (enforcement.defaults.mode, enforcement.unknownClients)
    let rejectsAll = clients.isEmpty && mode == .enforce && unknownClients == .reject
    // Unlisted clients are always enforced.
    isEnforcing = rejectsAll || !unlisted.isEmpty || clients.values.contains { $0.mode == .enforce }
    isObserving = mode == .observe || unknownClients == .observe || clients.values.contains { $0.mode == .observe }
    enforcedIDs =
      isEnforcing && isObserving
      ? FoldedIDs(enforcedIn: clients, and: sharedUpstreamClients.map(\.clientID)) : FoldedIDs()
  }

  /// Creates a policy for tests and the demo: the rules for all clients have their defaults, except for the arguments.
  public convenience init(
    gateway: GatewaySettings, upstream: UpstreamSettings, unknownClients: UnknownClients, mode: EnforcementMode,
    unlistedOAuth: UnlistedOAuth = .reject, clients: [ClientID: Client], resources: [ResourceSettings] = [],
    registration: RegistrationSettings? = nil, clientDocuments: ClientDocumentSettings? = nil,
    routes: [RouteSettings] = [], version: String
  ) {
    var enforcement = PolicyEnforcement()
    enforcement.unknownClients = unknownClients
    enforcement.defaults.mode = mode
    enforcement.unlistedOAuth = unlistedOAuth
    self.init(
      gateway: gateway, upstream: upstream, enforcement: enforcement, clients: clients, resources: resources,
      registration: registration, clientDocuments: clientDocuments, routes: routes, version: version)
  }
}

extension Policy {
  /// The treatment of a client id that the policy does not list.
  public var unknownClients: UnknownClients { enforcement.unknownClients }
  /// The `mode` of `enforcement:`. It applies to decisions that do not depend on a client.
  public var mode: EnforcementMode { enforcement.defaults.mode }
  /// The kinds of redirect URI that native apps may have.
  public var redirects: Set<RedirectKind> { enforcement.redirects }
  /// The treatment of an authorization or token request on a path that the policy does not list.
  public var unlistedOAuth: UnlistedOAuth { enforcement.unlistedOAuth }
}

/// The effect of the rules on a request (invariant `I-observe`). A client or request whose mode is `enforce` is called
/// enforced, and one whose mode is `observe` is called observed.
public enum EnforcementMode: String, Sendable, CaseIterable {
  /// The gateway carries out a refusal.
  case enforce
  /// The request and its response pass unchanged, except for the differences that `docs/observe.md` lists. The gateway
  /// logs and counts the requests that it would refuse.
  case observe
}

/// The treatment of a client id that the policy does not list.
public enum UnknownClients: String, Sendable, CaseIterable {
  /// The gateway refuses requests with the id.
  case reject
  /// The gateway observes requests with the id, like those of a client in `EnforcementMode.observe`.
  case observe
}

/// The treatment of an authorization or token request on a path that the policy does not list.
public enum UnlistedOAuth: String, Sendable, CaseIterable {
  /// The gateway refuses the request while ``Policy/isEnforcing`` is true. Otherwise the request is treated as in
  /// `observe`.
  case reject
  /// The request passes, and the gateway logs and counts it.
  case observe
}

/// The three kinds of redirect URI of a native app (RFC 8252, section 7).
public enum RedirectKind: String, Sendable, CaseIterable {
  /// A private-use scheme (section 7.1).
  case privateUse = "private_use"
  /// A claimed https URI, which the operating system opens in the app (section 7.2).
  case claimedHTTPS = "claimed_https"
  /// An http URI with a loopback literal (section 7.3), or with `localhost` if the policy permits it.
  case loopback
}
