public import OAuth

/// What the operator decided: an immutable snapshot that every worker reads without a lock.
///
/// `PolicyFile` makes it from YAML after validation, so code that holds a `Policy` needs no further checks.
///
/// A reference: every decision has one in its context, and a copy of the values would count references of each.
public final class Policy: Sendable {
  public let gateway: GatewaySettings
  public let upstream: UpstreamSettings
  /// What applies to a client id that the policy does not list.
  public let unknownClients: UnknownClients
  /// The mode of what is decided before a client is known.
  public let mode: Mode
  /// The kinds of redirect URI that native clients may have.
  public let redirects: Set<RedirectKind>
  /// What happens to requests of OAuth's on paths that are not listed, once a client is enforced.
  public let unlistedOAuth: UnlistedOAuth
  public let clients: [ClientID: Client]
  /// The one redirect URI that a legacy server must know.
  public let callback: String
  /// A short hash of the files that the policy came from: the version that metrics and logs show.
  public let version: String
  /// Upstream identifiers whose credentials the gateway holds: never "unknown", even where no client has that id.
  public let heldUpstreamIDs: Set<ClientID>
  /// Whether any client may push its authorization requests: the endpoint is closed otherwise.
  public let takesPushedRequests: Bool
  /// Whether any client blocks embedded user agents, so that pages in between have to be looked at.
  public let blocksEmbeddedUserAgents: Bool
  /// True if the rules are enforced for at least one client. While it is false, nothing is changed on the wire
  /// (`I-observe`).
  public let isEnforcing: Bool
  /// True if a request of some client may be observed only.
  public let isObserving: Bool
  /// The ids of enforced clients, here and upstream, where other clients are observed; otherwise empty.
  let enforcedIDs: FoldedIDs

  public init(
    gateway: GatewaySettings, upstream: UpstreamSettings, unknownClients: UnknownClients, mode: Mode,
    redirects: Set<RedirectKind> = Set(RedirectKind.allCases), unlistedOAuth: UnlistedOAuth = .reject,
    clients: [ClientID: Client], version: String
  ) {
    self.gateway = gateway
    self.upstream = upstream
    self.unknownClients = unknownClients
    self.mode = mode
    self.redirects = redirects
    self.unlistedOAuth = unlistedOAuth
    self.clients = clients
    self.version = version
    callback = gateway.origin.description + GatewaySettings.ownPath + "callback"
    takesPushedRequests = clients.values.contains { $0.pushedAuthorization != .off }
    blocksEmbeddedUserAgents = clients.values.contains { $0.blocksEmbeddedUserAgents }
    heldUpstreamIDs = Set(clients.values.lazy.map(\.upstream).filter { $0.clientSecret != nil }.map(\.clientID))
    let rejectsAll = clients.isEmpty && mode == .enforce && unknownClients == .reject
    isEnforcing = rejectsAll || clients.values.contains { $0.mode == .enforce }
    isObserving = mode == .observe || unknownClients == .observe || clients.values.contains { $0.mode == .observe }
    enforcedIDs = isEnforcing && isObserving ? FoldedIDs(enforcedIn: clients) : FoldedIDs()
  }
}

/// The effect of the rules on a request (`I-observe`).
public enum Mode: String, Sendable, CaseIterable {
  /// A refusal is carried out.
  case enforce
  /// The request and its answer pass unchanged. What would be refused is logged and counted.
  case observe
}

/// The treatment of a client id that the policy does not list.
public enum UnknownClients: String, Sendable, CaseIterable {
  case reject
  /// As `Mode.observe`.
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
