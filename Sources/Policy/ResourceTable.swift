public import OAuth

/// A protected resource of the policy.
///
/// This is a class because each step of a decision passes the resource on, and a copy of a struct would retain and
/// release every string in it.
@dynamicMemberLookup
public final class Resource: Sendable {
  /// The settings of the resource. The subscript reads them.
  public let settings: ResourceSettings

  /// Creates a resource.
  public init(_ settings: ResourceSettings) {
    self.settings = settings
  }

  /// A setting of the resource.
  @inlinable
  public subscript<Value>(dynamicMember setting: KeyPath<ResourceSettings, Value>) -> Value {
    settings[keyPath: setting]
  }

  /// The identifier and its aliases.
  public var names: [ResourceURI] { [settings.uri] + settings.aliases }

  /// Returns true if the policy permits the resource to the client, or lists the client.
  public func isWithinLimits(of client: Client) -> Bool {
    guard let allowed = client.allowedResources else { return true }
    return allowed.contains { name in names.contains { $0.text == name } }
  }

  /// Returns true if a client can use the resource: one that the policy does not list may use only the resources that
  /// the policy names for such clients. With an upstream client of the resource, the gateway uses a secret
  /// that it holds, so it must be able to authenticate a confidential client by itself.
  public func permits(_ client: Client) -> Bool {
    guard isWithinLimits(of: client) else { return false }
    guard settings.upstream.client != nil, client.kind == .confidential else { return true }
    return client.secret != nil || (client.upstream.clientSecret != nil && client.upstream.clientID == client.id)
  }
}

/// The resources of a policy by their names.
public struct ResourceTable: Sendable {
  /// The resources in the order of the policy.
  public let all: [Resource]
  private let byName: [String: Resource]
  /// The resources by the spelling of their names in which letter case has no meaning (`ResourceURI.caseNormalised`).
  private let byNormalisedName: [String: Resource]
  /// The identifiers of the resources that add a scope token to requests for them (`upstream.scopes`).
  private let byAddedScope: [String: Set<String>]

  /// Creates a table. A name that occurs twice means the first resource with this name.
  public init(_ resources: [ResourceSettings] = []) {
    all = resources.map(Resource.init)
    byName = Dictionary(
      all.flatMap { resource in resource.names.map { ($0.text, resource) } }, uniquingKeysWith: { first, _ in first })
    byNormalisedName = Dictionary(
      all.flatMap { resource in resource.names.map { (ResourceURI.caseNormalised($0.text), resource) } },
      uniquingKeysWith: { first, _ in first })
    byAddedScope = Dictionary(
      resources.flatMap { resource in
        (resource.upstream.scope?.tokens ?? []).filter { !ResourceTable.openIDScopes.contains($0) }
          .map { (String($0), [resource.uri.text]) }
      }, uniquingKeysWith: { $0.union($1) })
  }

  /// The scope tokens of OpenID Connect Core, sections 5.4 and 11. They select no resource at any server.
  private static let openIDScopes: Set<Substring> = [
    "openid", "profile", "email", "address", "phone", "offline_access",
  ]

  /// Returns true if the gateway adds the scope token to requests for resources (`upstream.scopes`), but not for this
  /// one: a server that derives the audience of a token from the scope would issue the token for one of them.
  ///
  /// - Parameter resource: The resource of the request; `nil` if the request names none.
  public func reserves(scope token: String, inRequestFor resource: Resource?) -> Bool {
    guard let names = byAddedScope[token] else { return false }
    return resource.map { !names.contains($0.uri.text) } ?? true
  }

  /// True if the policy lists no resource.
  public var isEmpty: Bool { all.isEmpty }

  /// Returns the resource with this identifier or alias; `nil` if there is none. Scheme and host may have capital letters,
  /// as MCP wants of servers (RFC 3986, section 6.2.2.1); the rest is compared byte for byte.
  public subscript(name: String) -> Resource? {
    // Swift compares strings by Unicode equivalence, but two texts of ASCII are equal only if their bytes are equal.
    guard name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { return nil }
    return byName[name] ?? byNormalisedName[ResourceURI.caseNormalised(name)]
  }

  /// The upstream clients of the resources that have one.
  public var upstreamClients: [UpstreamClient] { all.compactMap(\.settings.upstream.client) }
}

extension Client {
  /// Returns the client in its requests for a resource. If the resource has an upstream client, this one replaces the
  /// client's own, and the gateway asks the user for consent: the upstream asks only about the shared client.
  public func acting(for resource: Resource?) -> Client {
    guard var upstream = resource?.upstream.client else { return self }
    var settings = settings
    if isUnlisted {
      // The default of such a client is a limit.
      let own = settings.upstream.scopes
      upstream.scopes = ScopeRules(
        drop: upstream.scopes?.drop ?? own?.drop,
        default: own?.defaultScope?.text.split(separator: " ").map(String.init) ?? [],
        adding: upstream.scopes?.added ?? own?.added)
    } else {
      upstream.scopes = upstream.scopes ?? settings.upstream.scopes
    }
    settings.upstream = upstream
    settings.consent = .gateway
    return Client(settings, allowedScopes: allowedScopes, allowedResources: allowedResources)
  }
}
