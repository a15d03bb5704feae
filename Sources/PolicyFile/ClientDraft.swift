import OAuth
import Policy
import YAML

/// The entry of one client while it is read, with the nodes at which problems are reported. This is a class because
/// copying the many members of a struct would take longer than parsing them.
final class ClientDraft: SectionDraft {
  /// A value and its location.
  typealias Located<Value> = (value: Value, node: YAMLNode)

  var settings: ClientSettings
  var id: ClientID?
  /// The value of `type:`; `nil` if it is missing or unknown.
  private(set) var kind: ClientType?
  /// The value of `id:`, or the whole entry if it has no id.
  var node: YAMLNode
  private(set) var fields = Fields()
  /// The valid redirect URIs.
  var redirectURIs: [Located<RedirectURI>] = []
  /// The grants in the entry that only some clients may have. They are checked after the whole entry has been read.
  var restrictedGrants: [Located<GrantType>] = []
  /// True if the entry lists at least one valid grant, so that the default does not apply.
  var listsGrants = false
  var upstream: ClientUpstreamDraft

  init(node: YAMLNode, settings: ClientSettings) {
    self.node = node
    self.settings = settings
    upstream = ClientUpstreamDraft(settings: settings.upstream)
  }

  /// The parser of the mapping. In each function, `$0` is the policy reader, `$1` the field, and `$2` the draft.
  static let section = Section<ClientDraft>(
    ClientSettings.table,
    [
      // `PolicyReader.readDraft(_:)` has already read the id.
      "id": { _, _, _ in },
      "redirect_uris": { $2.redirectURIs = $0.redirectURIs($1) },
      "grants": { $0.readGrants($1, $2) },
      "secret": { $2.settings.secret = $0.secret($1) },
      "upstream": { $0.readClientUpstream($1, $2) },
      "schemes": { $0.readSchemes($1, $2) },
    ])

  /// True if the entry has no redirect URI, not even an invalid one.
  var hasNoRedirectURI: Bool {
    guard redirectURIs.isEmpty, let node = fields["redirect_uris"]?.node else { return redirectURIs.isEmpty }
    return node.kind == .sequence && node.count == 0
  }

  var rules: EnforcementSettings { settings.enforcement }

  /// True if the client has an id at the upstream that differs from its id in the policy.
  var hasDifferentUpstreamID: Bool { upstream.id.map { $0 != id } ?? false }

  /// The name of the client in messages.
  var title: String { id.map { "client \(quoted($0.rawValue))" } ?? "the client" }

  /// Stores the fields that were read, and fills in the defaults that depend on other settings.
  ///
  /// - Parameter clients: The clients so far, with which the sets of grants and response modes are shared.
  func complete(_ fields: Fields, _ clients: inout ClientCollection) {
    self.fields = fields
    if fields.valid("type") != nil { kind = settings.kind }
    if fields.valid("application") == nil {
      // The default for a public client is `native`, for which PKCE cannot be turned off. A confidential client must
      // not be a native app.
      settings.application = kind == .confidential ? .web : .native
    }
    if !listsGrants, settings.application == .device {
      settings.grants = clients.sharedSet(of: [.deviceCode, .refreshToken])
    }
    if fields["response_modes"] != nil { settings.responseModes = clients.sharedSet(of: settings.responseModes) }
  }
}

/// The mapping `upstream:` of a client.
struct ClientUpstreamDraft: SectionDraft {
  var settings: UpstreamClient
  var fields = Fields()
  var id: ClientID?
  var redirectURI: UpstreamClient.RedirectURI?

  static let section = Section<ClientUpstreamDraft>(
    UpstreamClient.table,
    [
      "client_id": { $2.id = $0.clientID($1) },
      "client_secret": { $2.settings.clientSecret = $0.secret($1) },
      "redirect_uri": { $2.redirectURI = $0.upstreamRedirect($1) },
      "scopes": { $2.settings.scopes = $0.scopes($1, serverRules: $0.upstream?.scopes) },
    ])

  /// True if the entry has a `client_secret`, even if the secret could not be read.
  var hasClientSecret: Bool { fields["client_secret"] != nil }

  /// Returns the settings, with the defaults for a client with this id.
  ///
  /// - Parameter authentication: The form in which the gateway sends a `client_secret` by default.
  func settings(for id: ClientID, authentication: UpstreamClient.Authentication) -> UpstreamClient {
    var settings = settings
    settings.clientID = self.id ?? id
    if fields.valid("authentication") == nil { settings.authentication = hasClientSecret ? authentication : .none }
    settings.redirectURI = redirectURI ?? (hasClientSecret ? .callback : .requested)
    return settings
  }
}
