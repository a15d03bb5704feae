public import OAuth

/// The limits for clients that the policy does not list, and the template from which they are made. A source of such
/// clients, for example dynamic registration, has one value of this type.
///
/// A client's metadata can only narrow the redirect URIs and the default scope; its requests may have each scope of the
/// rules (RFC 7591, section 2: the registered scope lists values that the client can use). Every such client needs PKCE and gets the gateway's consent page.
/// All are public, except registered clients with a secret.
public struct UnlistedClientRules: Sendable {
  /// The client of the gateway at the upstream, which all of these clients share.
  public var upstream: UpstreamClient
  /// The scope tokens that these clients may request.
  public var scopes: [String]
  /// The identifiers of the resources (RFC 8707) that these clients may request. By default, none.
  public var resources: [String] = []
  /// The redirect URIs that these clients may have.
  public var redirects: UnlistedRedirects
  /// The hosts of the gateway itself, which no https redirect URI may have. `Policy` sets them.
  public internal(set) var ownHosts: [String] = []
  /// The clients that are refused, whatever their metadata are.
  public var denied: ClientDenyList
  /// The rules of `enforcement:` for these clients.
  public var enforcement = EnforcementSettings()

  /// Creates rules.
  public init(
    upstream: UpstreamClient, scopes: [String], redirects: UnlistedRedirects, denied: ClientDenyList = ClientDenyList()
  ) {
    self.upstream = upstream
    self.scopes = scopes
    self.redirects = redirects
    self.denied = denied
  }

  /// Creates the defaults: nothing is permitted.
  public init() {
    self.init(upstream: UpstreamClient(), scopes: [], redirects: UnlistedRedirects())
  }
}

extension UnlistedClientRules {
  /// Returns the part of the metadata that these rules permit; `nil` if no redirect URI is left, or if the client has
  /// requested scopes and none of them is left.
  public func permitted(_ metadata: ClientMetadata) -> ClientMetadata? {
    var permitted = metadata
    permitted.redirectURIs = metadata.redirectURIs.filter { permits($0, metadata.applicationType) }
    guard !permitted.redirectURIs.isEmpty else { return nil }
    // An earlier version may have accepted a name that pages no longer show.
    if let name = metadata.name, !ClientMetadata.isDisplayable(name) { permitted.name = nil }
    if let scope = metadata.scope {
      let kept = scope.text.split(separator: " ").filter { scopes.contains(String($0)) }
      guard let scope = Scope(parsing: kept.joined(separator: " ")) else { return nil }
      permitted.scope = scope
    }
    return permitted
  }

  /// Returns true if a client of this application type may have the redirect URI. The name `localhost` counts as a
  /// loopback address. A URI with a parameter of an authorization response is never permitted: the app could read this
  /// parameter in place of the gateway's.
  public func permits(_ uri: RedirectURI, _ type: ClientMetadata.ApplicationType) -> Bool {
    guard !uri.containsResponseParameters else { return false }
    switch uri.kind {
    // A code would reach pages of the gateway or the server, which may redirect the browser elsewhere with it, and the
    // consent page would name a host that users trust.
    case .https(let host): return !HostList.contains(host, in: ownHosts) && redirects.permits(host: host)
    case .loopback: return type == .native && redirects.loopback
    case .localhost: return type == .native && redirects.loopback && localhost != .reject
    case .privateUse(let scheme):
      guard type == .native else { return false }
      // A scheme without a period could belong to any program, so it must be listed.
      let profile: RedirectURI.SchemeProfile = enforcement.schemes == .strict ? .strict : .minimum
      return redirects.lists(scheme: scheme) || redirects.anyScheme && uri.schemeProblem(profile) == nil
    case .windowsBroker: return type == .native && (redirects.anyScheme || redirects.lists(scheme: "msapp"))
    }
  }

  /// The rule for redirect URIs with the name `localhost`. An app that registers itself does so before it knows its
  /// port, so `exact` applies only if it is set for these clients (docs/adr/0033).
  public var localhost: LocalhostPolicy {
    redirects.localhost ?? (enforcement.localhost == .exact ? .portless : enforcement.localhost)
  }

  /// Returns the client that these rules make from metadata; `nil` if the client is denied or nothing of its metadata
  /// is permitted.
  ///
  /// The rules are applied on every use, so that a change of the policy takes effect with its reload.
  ///
  /// - Parameters:
  ///   - id: The `client_id` that the client sends.
  ///   - metadata: The validated metadata of the client.
  ///   - secret: The secret that the gateway issued to the client; `nil` for a public client.
  public func client(_ id: ClientID, _ metadata: ClientMetadata, secret: Secret? = nil) -> Client? {
    guard !denied.contains(id, metadata), let permitted = permitted(metadata) else { return nil }
    return makeClient(id, permitted, secret: secret)
  }

  /// Returns a client without redirect URIs, so that no authorization request of it can pass, and no code or refresh
  /// token. Its requests get the errors of a known client.
  public func undescribedClient(_ id: ClientID, secret: Secret? = nil) -> Client {
    makeClient(id, ClientMetadata(applicationType: .native, redirectURIs: []), .undescribed, secret: secret)
  }

  private func makeClient(
    _ id: ClientID, _ permitted: ClientMetadata, _ registration: Client.Registration = .untrusted, secret: Secret? = nil
  ) -> Client {
    // The scope in the metadata is only the default: a client may ask for more in a later sign-in, as MCP clients do for a
    // tool that needs it (“step-up authorization”), and the user sees on the consent page what it asks for.
    let defaults = permitted.scope?.list.map(String.init) ?? scopes
    var upstream = upstream
    upstream.scopes = ScopeRules(drop: upstream.scopes?.drop, default: defaults, adding: upstream.scopes?.added)
    var settings = ClientSettings(
      id: id, name: permitted.name, kind: secret == nil ? .public : .confidential,
      application: permitted.applicationType == .web ? .web : .native, redirectURIs: permitted.redirectURIs,
      pkce: .required, consent: .gateway, secret: secret, upstream: upstream, registration: registration)
    settings.enforcement = enforcement
    settings.enforcement.localhost = localhost
    settings.enforcement.mode = .enforce
    settings.enforcement.pushedAuthorization = .off
    settings.enforcement.rawRefreshUntil = nil
    settings.grants = permitted.usesRefreshTokens ? [.authorizationCode, .refreshToken] : [.authorizationCode]
    return Client(settings, allowedScopes: Set(scopes), allowedResources: Set(resources))
  }
}

/// The redirect URIs that clients may have which the policy does not list. By default, none.
public struct UnlistedRedirects: Sendable {
  /// True if an https redirect URI may have any host.
  public var anyHost = false
  /// The hosts of https redirect URIs. An entry that begins with a period permits all subdomains.
  public var hosts: [String] = []
  /// True if a native app may have redirect URIs on loopback addresses and `localhost`.
  public var loopback = false
  /// The rule for redirect URIs with the name `localhost`; `nil` for the default (`UnlistedClientRules.localhost`).
  public var localhost: LocalhostPolicy?
  /// True if a native app may have any private-use scheme that satisfies `enforcement.schemes`.
  public var anyScheme = false
  /// The private-use schemes that native apps may have, also those without a period.
  public var schemes: [String] = []

  /// Creates the defaults.
  public init() {}

  /// Returns true if an https redirect URI may have the host. `anyHost` permits only names: browsers read an address in
  /// many spellings, and a deny-list has one of them.
  func permits(host: String) -> Bool {
    HostList.contains(host, in: hosts)
      || anyHost && !HostList.isLoopbackName(host) && !ClientDocumentURL.isAddress(host)
  }

  func lists(scheme: String) -> Bool { schemes.contains(scheme) }
}

extension Policy {
  /// Returns the client with this id: one that the policy lists, or `unlisted` if this has the id.
  ///
  /// - Parameter unlisted: The client of the request if the policy does not list it, as the caller made it from
  ///   metadata (`UnlistedClientRules`); `nil` if there is none.
  public func client(_ id: ClientID, unlisted: Client?) -> Client? {
    if let listed = clients[id] { return listed }
    guard let unlisted, unlisted.id == id else { return nil }
    return unlisted
  }
}

extension RedirectURI {
  /// True if the query has a parameter that an authorization response may have, also for an app that ignores the case
  /// of names or separates parameters by semicolons.
  fileprivate var containsResponseParameters: Bool {
    guard let query else { return false }
    guard let parameters = FormParameters(parsing: query.replacing(";", with: "&")), !parameters.hasMalformedName,
      parameters.namesWithMalformedValue.isEmpty, parameters.alternativeSpelling(of: .inResponse) == nil
    else { return true }
    return parameters.entries.contains { entry in
      ParameterNames.inResponse.contains(entry.parameter)
        || ResponseParameters.tokenNames.contains(entry.name.lowercased())
    }
  }
}
