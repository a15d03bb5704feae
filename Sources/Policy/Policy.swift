public import OAuth

/// What the operator decided: an immutable snapshot that every worker reads without a lock.
///
/// `PolicyFile` makes it from YAML after validation, so code that holds a `Policy` needs no further checks.
///
/// A reference: every decision has one in its context, and a copy of the values would count references of each.
public final class Policy: Sendable {
  public let gateway: GatewaySettings
  public let upstream: UpstreamSettings
  public let enforcement: PolicyEnforcement
  public let clients: [ClientID: Client]
  /// The one redirect URI that a legacy server must know.
  public let callback: String
  /// A short hash of the files that the policy came from: the version that metrics and logs show.
  public let version: String
  /// Upstream identifiers whose credentials the gateway holds: never "unknown", even where no client has that id.
  public let gatewayHeldClientIDs: Set<ClientID>
  /// True if any client may push its authorization requests: the endpoint is closed otherwise.
  public let acceptsPushedRequests: Bool
  /// True if any client blocks embedded user agents, so that pages in between have to be looked at.
  public let blocksEmbeddedUserAgents: Bool
  /// True if the rules are enforced for at least one client. While it is false, nothing is changed on the wire
  /// (`I-observe`).
  public let isEnforcing: Bool
  /// True if a request of some client may be observed only.
  public let isObserving: Bool
  /// The ids of enforced clients, here and upstream, where other clients are observed; otherwise empty.
  let enforcedIDs: FoldedIDs

  public init(
    gateway: GatewaySettings, upstream: UpstreamSettings, enforcement: PolicyEnforcement, clients: [ClientID: Client],
    version: String
  ) {
    self.gateway = gateway
    self.upstream = upstream
    self.enforcement = enforcement
    self.clients = clients
    self.version = version
    callback = gateway.origin.description + GatewaySettings.ownPath + "callback"
    acceptsPushedRequests = clients.values.contains { $0.pushedAuthorization != .off }
    blocksEmbeddedUserAgents = clients.values.contains { $0.blocksEmbeddedUserAgents }
    let upstreams = clients.values.lazy.map(\.settings.upstream)
    gatewayHeldClientIDs = Set(upstreams.filter { $0.clientSecret != nil }.map(\.clientID))
    let (mode, unknownClients) = (enforcement.defaults.mode, enforcement.unknownClients)
    let rejectsAll = clients.isEmpty && mode == .enforce && unknownClients == .reject
    isEnforcing = rejectsAll || clients.values.contains { $0.mode == .enforce }
    isObserving = mode == .observe || unknownClients == .observe || clients.values.contains { $0.mode == .observe }
    enforcedIDs = isEnforcing && isObserving ? FoldedIDs(enforcedIn: clients) : FoldedIDs()
  }

  public convenience init(
    gateway: GatewaySettings, upstream: UpstreamSettings, unknownClients: UnknownClients, mode: EnforcementMode,
    unlistedOAuth: UnlistedOAuth = .reject, clients: [ClientID: Client], version: String
  ) {
    var enforcement = PolicyEnforcement()
    enforcement.unknownClients = unknownClients
    enforcement.defaults.mode = mode
    enforcement.unlistedOAuth = unlistedOAuth
    self.init(gateway: gateway, upstream: upstream, enforcement: enforcement, clients: clients, version: version)
  }
}

extension Policy {
  public var unknownClients: UnknownClients { enforcement.unknownClients }
  /// The mode of what is decided before a client is known.
  public var mode: EnforcementMode { enforcement.defaults.mode }
  public var redirects: Set<RedirectKind> { enforcement.redirects }
  public var unlistedOAuth: UnlistedOAuth { enforcement.unlistedOAuth }
}

/// The effect of the rules on a request (`I-observe`).
public enum EnforcementMode: String, Sendable, CaseIterable {
  /// A refusal is carried out.
  case enforce
  /// The request and its answer pass unchanged. What would be refused is logged and counted.
  case observe
}

/// The treatment of a client id that the policy does not list.
public enum UnknownClients: String, Sendable, CaseIterable {
  case reject
  /// As `EnforcementMode.observe`.
  case observe
}

/// What happens to an authorization or token request on a path that the policy does not list.
public enum UnlistedOAuth: String, Sendable, CaseIterable {
  case reject
  /// It passes, and is logged and counted.
  case observe
}

/// The three ways back into a native app (RFC 8252, section 7).
public enum RedirectKind: String, Sendable, CaseIterable {
  case privateUse = "private_use"
  case claimedHTTPS = "claimed_https"
  /// Loopback literals, and `localhost` where it is allowed.
  case loopback
}
