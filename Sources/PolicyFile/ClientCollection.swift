import OAuth
import Policy
import YAML

/// The clients read so far, and the facts that depend on all of them together.
struct ClientCollection {
  /// A client that has an id. A policy may have very many clients, so an entry is small and keeps no nodes of the
  /// document.
  struct Entry {
    /// The client; `nil` if its entry has errors that prevent it from being used.
    var client: Client?
    /// The place where the client begins.
    let place: SourceLocation
    /// The place of the `consent` setting; `nil` if the default of `I-consent` applies.
    let consent: SourceLocation?
    /// The place of the `client_id` in `upstream:`; `nil` if the client has none.
    let upstreamID: SourceLocation?
  }

  /// A redirect URI, other than a loopback one, that should belong to only one client, and its scheme if that is a
  /// private-use scheme.
  struct Site {
    let client: ClientID
    let uri: String
    let scheme: String?
    let place: SourceLocation
  }

  /// A loopback redirect URI without its port. The app chooses the port at run time.
  struct LoopbackSite {
    let client: ClientID
    let address: String
    let isObserved: Bool
    let place: SourceLocation
  }

  private(set) var entries: [Entry] = []
  /// The index of each client in `entries`.
  private var positions: [ClientID: Int32] = [:]
  /// All redirect URIs except loopback ones, in the order of the files.
  private(set) var sites: [Site] = []
  private(set) var loopbackSites: [LoopbackSite] = []
  /// The sets of grants so far, each with the list in the file that it was created from. Clients with equal lists share
  /// the storage of one set, because most clients of a large policy have the same grants and response modes.
  private var grantSets: [(list: [GrantType], set: Set<GrantType>)] = []
  private var modeSets: [Set<ResponseMode>] = []
  /// True if an enforced public client has the refresh token grant, so that the gateway seals its refresh tokens.
  private(set) var sealsRefreshTokens = false

  mutating func reserveCapacity(_ count: Int) {
    entries.reserveCapacity(count)
    positions.reserveCapacity(count)
    sites.reserveCapacity(count)
  }

  subscript(id: ClientID) -> Entry? { positions[id].map { entries[Int($0)] } }

  /// Adds a client; its id must be new.
  mutating func add(_ id: ClientID, _ entry: Entry) {
    positions[id] = Int32(entries.count)
    entries.append(entry)
    if let client = entry.client, client.kind == .public, client.mode == .enforce, client.grants.contains(.refreshToken)
    {
      sealsRefreshTokens = true
    }
  }

  mutating func replace(_ client: Client, at position: Int) {
    entries[position].client = client
  }

  mutating func add(_ site: Site) {
    sites.append(site)
  }

  mutating func add(_ site: LoopbackSite) {
    loopbackSites.append(site)
  }

  /// Returns each loopback site whose address an earlier client also has in the other mode (observe or enforce), with
  /// that client.
  func loopbackSitesOfBothModes() -> [(site: LoopbackSite, other: ClientID)] {
    guard loopbackSites.contains(where: \.isObserved) else { return [] }
    var observed: [String: ClientID] = [:]
    var enforced: [String: ClientID] = [:]
    var shared: [(site: LoopbackSite, other: ClientID)] = []
    for site in loopbackSites {
      if let other = site.isObserved ? enforced[site.address] : observed[site.address] { shared.append((site, other)) }
      if site.isObserved { observed[site.address] = site.client } else { enforced[site.address] = site.client }
    }
    return shared
  }

  /// Returns the position of each site whose text another, earlier client has too, with that client. `text` returns the
  /// text to compare, or `nil` to exclude a site.
  func sharedSites(_ text: (Site) -> String?) -> [Int: ClientID] {
    var owners: [String: Int32] = [:]
    owners.reserveCapacity(sites.count)
    var shared: [Int: ClientID] = [:]
    for (position, site) in sites.enumerated() {
      // The new owner replaces the old one, so that a second URI of the same client with this text gives no second
      // finding.
      guard let text = text(site), let owner = owners.updateValue(Int32(position), forKey: text) else { continue }
      let client = sites[Int(owner)].client
      if client != site.client { shared[position] = client }
    }
    return shared
  }

  /// Frees the index of ids. No client can be added or looked up afterwards.
  mutating func freeIndex() {
    positions = [:]
  }

  /// Returns the clients by their ids and removes them from the collection.
  mutating func takeClients() -> [ClientID: Client] {
    var clients: [ClientID: Client] = [:]
    clients.reserveCapacity(entries.count)
    for entry in entries {
      if let client = entry.client { clients[client.id] = client }
    }
    entries = []
    return clients
  }

  /// Returns the set of these grants. Sets of equal lists share their storage.
  mutating func shared(_ grants: [GrantType]) -> Set<GrantType> {
    if let known = grantSets.first(where: { $0.list == grants }) { return known.set }
    let set = Set(grants)
    // Only the first 16 lists share storage, because a file could list the grants in many orders.
    if grantSets.count < 16 { grantSets.append((grants, set)) }
    return set
  }

  /// Returns a set that equals `modes`. Equal sets share their storage.
  mutating func shared(_ modes: Set<ResponseMode>) -> Set<ResponseMode> {
    if let known = modeSets.first(where: { $0 == modes }) { return known }
    modeSets.append(modes)
    return modes
  }
}
