public import OAuth

/// The operator's decisions: an immutable snapshot that every worker reads without a lock.
///
/// `PolicyFile` creates it from YAML after validation, so code that has a `Policy` needs no further checks.
///
/// A class, because the context of every decision contains the policy, and a copy of the values would retain and
/// release every string and collection in them.
public final class Policy: Sendable {
  /// The settings of the gateway process.
  public let gateway: GatewaySettings
  /// The settings of the legacy authorization server.
  public let upstream: UpstreamSettings
  /// The rules for all clients; a client has the rules that apply to it in its settings.
  public let enforcement: PolicyEnforcement
  /// The clients by their ids.
  public let clients: [ClientID: Client]
  /// The gateway's callback, the one redirect URI that is registered at the legacy server.
  public let callback: String
  /// A short hash of the files of the policy: the version that metrics and logs show.
  public let version: String
  /// The upstream ids for which the gateway holds credentials. A request of an unlisted client with one of these ids is
  /// refused even if unknown clients are observed; otherwise any client could act as the gateway.
  public let gatewayHeldClientIDs: Set<ClientID>
  /// True if any client may push authorization requests; else the endpoint is closed.
  public let acceptsPushedRequests: Bool
  /// True if any client blocks embedded user agents, so that the gateway checks each page of a sign-in.
  public let blocksEmbeddedUserAgents: Bool
  /// True if the rules are enforced for at least one client. While it is false, the gateway changes nothing on the wire
  /// (`I-observe`).
  public let isEnforcing: Bool
  /// True if requests of some clients, or of unknown ones, are only observed.
  public let isObserving: Bool
  /// The ids of enforced clients and their upstream ids, if other clients are observed; otherwise empty.
  let enforcedIDs: FoldedIDs

  /// Creates a policy and derives the values that depend on all clients.
  ///
  /// - Parameter version: A hash of the files of the policy, for metrics and logs.
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

  /// Creates a policy whose rules for all clients have their defaults, except for the arguments.
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
  /// The treatment of a client id that the policy does not list.
  public var unknownClients: UnknownClients { enforcement.unknownClients }
  /// The mode of decisions that are made before the client is known.
  public var mode: EnforcementMode { enforcement.defaults.mode }
  /// The kinds of redirect URI that native apps may have.
  public var redirects: Set<RedirectKind> { enforcement.redirects }
  /// The treatment of an authorization or token request on a path that the policy does not list.
  public var unlistedOAuth: UnlistedOAuth { enforcement.unlistedOAuth }
}

/// The effect of the rules on a request (`I-observe`).
public enum EnforcementMode: String, Sendable, CaseIterable {
  /// The gateway carries out a refusal.
  case enforce
  /// The request and its answer pass unchanged. The gateway logs and counts the requests that it would refuse.
  case observe
}

/// The treatment of a client id that the policy does not list.
public enum UnknownClients: String, Sendable, CaseIterable {
  /// The gateway refuses its requests.
  case reject
  /// The gateway treats its requests as those of a client in `EnforcementMode.observe`.
  case observe
}

/// The treatment of an authorization or token request on a path that the policy does not list.
public enum UnlistedOAuth: String, Sendable, CaseIterable {
  /// The gateway refuses the request while at least one client is enforced.
  case reject
  /// The request passes, and the gateway logs and counts it.
  case observe
}

/// The three kinds of redirect URI of a native app (RFC 8252, section 7).
public enum RedirectKind: String, Sendable, CaseIterable {
  /// A private-use scheme (section 7.1).
  case privateUse = "private_use"
  /// An https address that the operating system assigns to the app (section 7.2).
  case claimedHTTPS = "claimed_https"
  /// A loopback literal (section 7.3), and `localhost` if the policy allows it.
  case loopback
}
