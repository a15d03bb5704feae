import OAuth
import Policy
import YAML

/// The clients read so far, and what only all of them together can tell.
struct ClientCollection {
  /// A client that has an id. There may be very many, so what is kept of each is little, and nothing keeps its nodes.
  struct Entry {
    /// `nil` where the entry has errors that leave none.
    var client: Client?
    /// Where the client begins.
    let place: SourceLocation
    /// Where the file says who asks; absent: the default of `I-consent`.
    let consent: SourceLocation?
    let upstreamID: SourceLocation?
  }

  /// A redirect URI that apps or servers could mistake for another's, with its scheme where that is private.
  struct Site {
    let client: ClientID
    let uri: String
    let scheme: String?
    let place: SourceLocation
  }

  /// A loopback redirect URI without its port, which an app chooses when it runs.
  struct LoopbackSite {
    let client: ClientID
    let address: String
    let isObserved: Bool
    let place: SourceLocation
  }

  private(set) var entries: [Entry] = []
  /// Where each client is among the entries.
  private var positions: [ClientID: Int32] = [:]
  /// In the order of the files.
  private(set) var sites: [Site] = []
  private(set) var loopbackSites: [LoopbackSite] = []
  /// Equal sets share their storage, and are found by the list that says them: most clients of a large policy have the
  /// same grants and modes.
  private var grantSets: [(list: [GrantType], set: Set<GrantType>)] = []
  private var modeSets: [Set<ResponseMode>] = []
  /// True if the gateway seals the refresh tokens of at least one client.
  private(set) var sealsRefreshTokens = false

  mutating func reserveCapacity(_ count: Int) {
    entries.reserveCapacity(count)
    positions.reserveCapacity(count)
    sites.reserveCapacity(count)
  }

  subscript(id: ClientID) -> Entry? { positions[id].map { entries[Int($0)] } }

  /// The id must be new.
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

  /// Returns the loopback sites whose address a client of the other mode had before, each with that client.
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

  /// The sites that have a text which another client had before, and that client, by their positions.
  func sharedSites(_ text: (Site) -> String?) -> [Int: ClientID] {
    var owners: [String: Int32] = [:]
    owners.reserveCapacity(sites.count)
    var shared: [Int: ClientID] = [:]
    for (position, site) in sites.enumerated() {
      // The new owner replaces the old one, so that a client's second URI with the scheme is no second finding.
      guard let text = text(site), let owner = owners.updateValue(Int32(position), forKey: text) else { continue }
      let client = sites[Int(owner)].client
      if client != site.client { shared[position] = client }
    }
    return shared
  }

  /// Lets go of what finds clients by their ids.
  mutating func closeEntries() {
    positions = [:]
  }

  /// The clients by their ids; none of them stays here.
  mutating func takeClients() -> [ClientID: Client] {
    var clients: [ClientID: Client] = [:]
    clients.reserveCapacity(entries.count)
    for entry in entries {
      if let client = entry.client { clients[client.id] = client }
    }
    entries = []
    return clients
  }

  mutating func shared(_ grants: [GrantType]) -> Set<GrantType> {
    if let known = grantSets.first(where: { $0.list == grants }) { return known.set }
    let set = Set(grants)
    // A file could list them in many orders; the usual ones come first.
    if grantSets.count < 16 { grantSets.append((grants, set)) }
    return set
  }

  mutating func shared(_ modes: Set<ResponseMode>) -> Set<ResponseMode> {
    if let known = modeSets.first(where: { $0 == modes }) { return known }
    modeSets.append(modes)
    return modes
  }
}
