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
  /// Equal sets share their storage: most clients of a large policy have the same grants and modes.
  private var grantSets: [Set<GrantType>] = []
  private var modeSets: [Set<ResponseMode>] = []

  mutating func reserveCapacity(_ count: Int) {
    entries.reserveCapacity(count)
    ids.reserveCapacity(count)
    schemes.reserveCapacity(count)
    redirectURIs.reserveCapacity(count)
  }

  mutating func shared(_ grants: Set<GrantType>) -> Set<GrantType> { Self.shared(grants, among: &grantSets) }
  mutating func shared(_ modes: Set<ResponseMode>) -> Set<ResponseMode> { Self.shared(modes, among: &modeSets) }

  private static func shared<Value: Hashable>(_ value: Set<Value>, among known: inout [Set<Value>]) -> Set<Value> {
    if let equal = known.first(where: { $0 == value }) { return equal }
    known.append(value)
    return value
  }
}
