import OAuth
import Policy
import YAML

/// The clients that have been read, and the data for checks that compare clients with each other. Also lets clients
/// with equal sets of grants or response modes share one set in memory.
struct ClientCollection {
  /// A client that has an id. A policy may have very many clients, so an entry is small and keeps no nodes of the
  /// document.
  struct Entry {
    /// The client; `nil` if its entry in the file has no valid `type`.
    var client: Client?
    /// The location where the client begins.
    let location: SourceLocation
    /// The location of the `consent` setting; `nil` if the entry does not have this setting. The reader then chooses
    /// the value (invariant `I-consent`).
    let consentLocation: SourceLocation?
    /// The location of the `client_id` in `upstream:`; `nil` if the client has none.
    let upstreamIDLocation: SourceLocation?
  }

  /// A redirect URI of a client, but not a loopback URI. No other client should have the same redirect URI.
  struct RegisteredURI {
    let client: ClientID
    let text: String
    /// The private-use scheme; `nil` if the URI has none.
    let scheme: String?
    let location: SourceLocation
  }

  /// A loopback redirect URI of a client, without its port. The app chooses the port at run time.
  struct RegisteredLoopbackURI {
    let client: ClientID
    /// The URI without its port and its query, such as `http://127.0.0.1/callback`.
    let address: String
    /// True if the client is in observe mode.
    let isObserved: Bool
    let location: SourceLocation
  }

  private(set) var entries: [Entry] = []
  /// The locations of `consent_remembered` of the clients that set it to more than 0.
  var rememberedLocations: [ClientID: SourceLocation] = [:]
  /// The index of each client in `entries`.
  private var positions: [ClientID: Int32] = [:]
  /// All redirect URIs except loopback ones, in the order of the files.
  private(set) var registeredURIs: [RegisteredURI] = []
  private(set) var loopbackURIs: [RegisteredLoopbackURI] = []
  /// Sets of grants, each with the list of grants from which the set was created. Clients with equal lists share one
  /// set in memory, because most clients of a large policy have equal lists.
  private var grantSets: [(list: [GrantType], set: Set<GrantType>)] = []
  /// The sets of response modes of the clients so far. Clients with equal modes share one set in memory, too.
  private var responseModeSets: [Set<ResponseMode>] = []
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

  /// Returns each loopback URI of an observed client that an earlier enforced client also has, and each loopback URI of
  /// an enforced client that an earlier observed client also has, together with the earlier client.
  func loopbackURIsOfBothModes() -> [(uri: RegisteredLoopbackURI, earlierClient: ClientID)] {
    guard loopbackURIs.contains(where: \.isObserved) else { return [] }
    var observed: [String: ClientID] = [:]
    var enforced: [String: ClientID] = [:]
    var shared: [(uri: RegisteredLoopbackURI, earlierClient: ClientID)] = []
    for uri in loopbackURIs {
      if let earlier = uri.isObserved ? enforced[uri.address] : observed[uri.address] { shared.append((uri, earlier)) }
      if uri.isObserved { observed[uri.address] = uri.client } else { enforced[uri.address] = uri.client }
    }
    return shared
  }

  /// Compares each URI with the last earlier URI that has the same text. If the two belong to different clients, the
  /// result contains the client of the earlier URI. The keys are the positions of the later URIs in `registeredURIs`.
  ///
  /// - Parameter text: Returns the text of a URI to compare, such as its scheme, or `nil` to exclude the URI.
  func earlierOwners(comparing text: (RegisteredURI) -> String?) -> [Int: ClientID] {
    var lastPositions: [String: Int32] = [:]
    lastPositions.reserveCapacity(registeredURIs.count)
    var owners: [Int: ClientID] = [:]
    for (position, uri) in registeredURIs.enumerated() {
      // If a client has two URIs with the same text as a URI of an earlier client, the second of the two is compared
      // with the first, so there is only one finding.
      guard let text = text(uri), let earlier = lastPositions.updateValue(Int32(position), forKey: text) else {
        continue
      }
      let client = registeredURIs[Int(earlier)].client
      if client != uri.client { owners[position] = client }
    }
    return owners
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

  /// Returns the set of these grants. Calls with the same list return one set in memory, unless more than 16 different
  /// lists occur.
  mutating func sharedSet(of grants: [GrantType]) -> Set<GrantType> {
    if let known = grantSets.first(where: { $0.list == grants }) { return known.set }
    let set = Set(grants)
    // Only the sets of the first 16 lists are kept, because a file could list the grants in many orders.
    if grantSets.count < 16 { grantSets.append((grants, set)) }
    return set
  }

  /// Returns a set that equals `modes`. Calls with equal sets return the same set in memory.
  mutating func sharedSet(of modes: Set<ResponseMode>) -> Set<ResponseMode> {
    if let known = responseModeSets.first(where: { $0 == modes }) { return known }
    responseModeSets.append(modes)
    return modes
  }
}
