import OAuth
import Policy
import YAML

/// The entry of one client, with the places that findings name. A class, because it has so many parts that a copy costs
/// more than the reading.
final class ClientDraft: SectionDraft {
  /// A value and its place.
  typealias Located<Value> = (value: Value, node: YAMLNode)

  var settings: ClientSettings
  var id: ClientID?
  /// `nil` where the entry does not say it, or not in a known word.
  private(set) var kind: ClientType?
  /// The value of `id:`, or the whole entry.
  var node: YAMLNode
  private(set) var fields = Fields()
  /// The redirect URIs that could be read.
  var redirectURIs: [Located<RedirectURI>] = []
  /// The grants that not every client may have.
  var grants: [Located<GrantType>] = []
  var namesGrants = false
  var upstream: ClientUpstreamDraft

  init(node: YAMLNode, settings: ClientSettings) {
    self.node = node
    self.settings = settings
    upstream = ClientUpstreamDraft(settings: settings.upstream)
  }

  static let section = Section<ClientDraft>(
    ClientSettings.table,
    [
      // Read first.
      "id": { _, _, _ in },
      "redirect_uris": { $2.redirectURIs = $0.redirectURIs($1) },
      "grants": { $0.readGrants($1, $2) },
      "secret": { $2.settings.secret = $0.secret($1) },
      "upstream": { $0.readClientUpstream($1, $2) },
    ])

  /// True if the entry has no redirect URI, not even one that could not be read.
  var namesNoRedirectURI: Bool {
    guard redirectURIs.isEmpty, let node = fields["redirect_uris"]?.node else { return redirectURIs.isEmpty }
    return node.kind == .sequence && node.count == 0
  }

  var rules: EnforcementSettings { settings.enforcement }

  /// True if the upstream knows the client by another id.
  var hasOtherUpstreamID: Bool { upstream.id.map { $0 != id } ?? false }

  /// How messages call the client.
  var title: String { id.map { "client \(quoted($0.rawValue))" } ?? "the client" }

  /// Takes the settings that were read, and fills in the defaults that depend on other ones.
  ///
  /// - Parameter clients: The clients of the policy, whose equal sets share their storage.
  func complete(_ fields: Fields, _ clients: inout ClientCollection) {
    self.fields = fields
    if fields.valid("type") != nil { kind = settings.kind }
    if fields.valid("application") == nil {
      // The kind of application with the stricter rules for its type.
      settings.application = kind == .confidential ? .web : .native
    }
    if !namesGrants, settings.application == .device { settings.grants = clients.shared([.deviceCode, .refreshToken]) }
    if fields["response_modes"] != nil { settings.responseModes = clients.shared(settings.responseModes) }
  }
}

/// `upstream:` of a client.
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
      "scopes": { $2.settings.scopes = $0.scopes($1, server: $0.upstream?.scopes) },
    ])

  /// True if the entry names a secret: where it could not be read there is an error already.
  var holdsCredentials: Bool { fields["client_secret"] != nil }

  /// The upstream client of a client with this id.
  func settings(for id: ClientID) -> UpstreamClient {
    var settings = settings
    settings.clientID = self.id ?? id
    if fields.valid("authentication") == nil { settings.authentication = holdsCredentials ? .basic : .none }
    settings.redirectURI = redirectURI ?? (holdsCredentials ? .callback : .requested)
    return settings
  }
}
