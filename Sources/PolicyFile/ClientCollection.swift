import OAuth
import Policy
import YAML

/// The clients read so far, and what only all of them together can tell.
struct ClientCollection {
  struct Entry {
    var client: Client
    /// Where the client begins.
    let node: YAMLNode
    /// What the file says, and where; absent: the default of `I-consent`.
    let consent: (value: Consent, node: YAMLNode)?
    let upstreamID: YAMLNode?
  }

  /// Something that belongs to one client, and where it stands first.
  struct Site {
    let client: ClientID
    let node: YAMLNode
  }

  var entries: [Entry] = []
  var ids: [ClientID: YAMLNode] = [:]
  var schemes: [String: Site] = [:]
  var redirectURIs: [String: Site] = [:]
  /// Equal sets share their storage, and are found by the list that says them: most clients of a large policy have the
  /// same grants and modes.
  private var grantSets: [(list: [GrantType], set: Set<GrantType>)] = []
  private var modeSets: [Set<ResponseMode>] = []
  private let defaultModes: Set<ResponseMode> = [.query]

  mutating func reserveCapacity(_ count: Int) {
    entries.reserveCapacity(count)
    ids.reserveCapacity(count)
    schemes.reserveCapacity(count)
    redirectURIs.reserveCapacity(count)
  }

  mutating func shared(_ grants: [GrantType]) -> Set<GrantType> {
    if let known = grantSets.first(where: { $0.list == grants }) { return known.set }
    let set = Set(grants)
    // A file could list them in many orders; the usual ones come first.
    if grantSets.count < 16 { grantSets.append((grants, set)) }
    return set
  }

  /// By default an authorization response is in the query.
  mutating func shared(_ modes: Set<ResponseMode>?) -> Set<ResponseMode> {
    guard let modes else { return defaultModes }
    if let known = modeSets.first(where: { $0 == modes }) { return known }
    modeSets.append(modes)
    return modes
  }
}
