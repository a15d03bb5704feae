import OAuth
import Policy
import YAML

/// What the entry of one client says, with the places of what is judged later. A class, because it has so many parts that
/// handing it on by value costs more than reading it.
final class ClientDraft {
  /// A value and where it stands.
  typealias Placed<Value> = (value: Value, node: YAMLNode)

  var id: ClientID?
  /// The value of `id:`, or the whole entry.
  var node: YAMLNode
  var name: String?
  var kind: Client.Kind?
  var typeNode: YAMLNode?
  var application: Client.Application?
  var applicationNode: YAMLNode?
  var platform: Client.Platform?
  var redirectURIs: [Placed<RedirectURI>] = []
  var namesRedirectURIs = false
  var grants: Set<GrantType>?
  var grantNodes: [Placed<GrantType>] = []
  var pkce: Placed<Client.PKCE>?
  var reliesOnNonce = false
  var isTrusted = true
  var responseModes: Placed<Set<ResponseMode>>?
  var consent: Placed<Consent>?
  var secret: Secret?
  var secretNode: YAMLNode?
  var rules: RuleSettings
  var rawRefreshNode: YAMLNode?
  var reuseNetworks: Placed<RefreshReuseNetworks>?
  var pushedNode: YAMLNode?
  var upstreamID: Placed<ClientID>?
  var upstreamSecret: Secret?
  var upstreamSecretNode: YAMLNode?
  var authentication: Placed<UpstreamClient.Authentication>?
  var upstreamRedirect: UpstreamClient.RedirectURI?
  var upstreamScopes: ScopeRules?

  init(node: YAMLNode, rules: RuleSettings) {
    self.node = node
    self.rules = rules
  }

  /// True if the upstream knows the client by another id.
  var hasOtherUpstreamID: Bool { upstreamID.map { $0.value != id } ?? false }

  /// How messages call the client.
  var title: String { id.map { "client \(quoted($0.rawValue))" } ?? "the client" }

  /// What an app is when its entry does not say: the kind with the stricter rules for its type.
  var effectiveApplication: Client.Application { application ?? (kind == .confidential ? .web : .native) }

  /// Whether it has the grant, by its entry or by default.
  func has(_ grant: GrantType) -> Bool { grants?.contains(grant) ?? defaultGrants.contains(grant) }

  /// The grants that it has by default.
  var defaultGrants: [GrantType] {
    effectiveApplication == .device ? [.deviceCode, .refreshToken] : [.authorizationCode, .refreshToken]
  }
}
