import OAuth
import Policy
import YAML

/// The clients that have been read, and the facts that depend on all of them together.
struct ClientCollection {
  /// A client that has an id. A policy may have very many clients, so an entry is small and keeps no nodes of the
  /// document.
  struct Entry {
    /// The client; `nil` if its entry has errors that prevent it from being used.
    var client: Client?
    /// The place where the client begins.
    let place: SourceLocation
    /// The place of the `consent` setting; `nil` if the default of invariant `I-consent` applies.
    let consentPlace: SourceLocation?
    /// The place of the `client_id` in `upstream:`; `nil` if the client has none.
    let upstreamIDPlace: SourceLocation?
  }

  /// A redirect URI of a client, except loopback ones. Only one client should have it.
  struct RegisteredURI {
    let client: ClientID
    let text: String
    /// The private-use scheme; `nil` if the URI has none.
    let scheme: String?
    let place: SourceLocation
  }

  /// A loopback redirect URI of a client, without its port. The app chooses the port at run time.
  struct RegisteredLoopbackURI {
    let client: ClientID
    let address: String
    let isObserved: Bool
    let place: SourceLocation
  }

  private(set) var entries: [Entry] = []
  /// The index of each client in `entries`.
  private var positions: [ClientID: Int32] = [:]
  /// All redirect URIs except loopback ones, in the order of the files.
  private(set) var registeredURIs: [RegisteredURI] = []
  private(set) var loopbackURIs: [RegisteredLoopbackURI] = []
  /// The sets of grants so far, each with the list in the file from which it was created. Clients with equal lists
  /// share the storage of one set, because most clients of a large policy have equal lists.
  private var grantSets: [(list: [GrantType], set: Set<GrantType>)] = []
  /// The sets of response modes so far. Clients with equal sets share their storage, too.
  private var modeSets: [Set<ResponseMode>] = []
  /// True if an enforced public client has the refresh token grant, so that the gateway seals its refresh tokens.
  private(set) var sealsRefreshTokens = false

  mutating func reserveCapacity(_ count: Int) {
    entries.reserveCapacity(count)
    positions.reserveCapacity(count)
    registeredURIs.reserveCapacity(count)
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

  mutating func add(_ uri: RegisteredURI) {
    registeredURIs.append(uri)
  }

  mutating func add(_ uri: RegisteredLoopbackURI) {
    loopbackURIs.append(uri)
  }

  /// Returns each loopback URI whose address an earlier client in the other mode (observe or enforce) also has,
  /// together with this earlier client.
  func loopbackURIsOfBothModes() -> [(uri: RegisteredLoopbackURI, other: ClientID)] {
    guard loopbackURIs.contains(where: \.isObserved) else { return [] }
    var observed: [String: ClientID] = [:]
    var enforced: [String: ClientID] = [:]
    var shared: [(uri: RegisteredLoopbackURI, other: ClientID)] = []
    for uri in loopbackURIs {
      if let other = uri.isObserved ? enforced[uri.address] : observed[uri.address] { shared.append((uri, other)) }
      if uri.isObserved { observed[uri.address] = uri.client } else { enforced[uri.address] = uri.client }
    }
    return shared
  }

  /// Returns the earlier client for each URI whose text an earlier client also has. The keys are positions in
  /// `registeredURIs`.
  ///
  /// - Parameter text: Returns the text to compare, or `nil` to exclude a URI.
  func earlierOwners(comparing text: (RegisteredURI) -> String?) -> [Int: ClientID] {
    var owners: [String: Int32] = [:]
    owners.reserveCapacity(registeredURIs.count)
    var shared: [Int: ClientID] = [:]
    for (position, uri) in registeredURIs.enumerated() {
      // The new owner replaces the old one, so that a second URI of the same client with this text gives no second
      // finding.
      guard let text = text(uri), let owner = owners.updateValue(Int32(position), forKey: text) else { continue }
      let client = registeredURIs[Int(owner)].client
      if client != uri.client { shared[position] = client }
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
