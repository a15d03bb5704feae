import OAuth

/// The mode of a request by the client ids that it names (`I-observe`).
extension Policy {
  /// Returns the mode of a request.
  ///
  /// As long as no client is enforced, a request that names no client, several clients, or that cannot be read is
  /// observed. As soon as one client is enforced, a request is observed only if it names exactly one client, and that
  /// client is observed or unknown. Otherwise an unreadable request could act for an enforced client.
  ///
  /// - Parameters:
  ///   - ids: The different client ids that occur in the request, in any place.
  ///   - isReadable: True if no server can find another client id in the request.
  public func mode(naming ids: some Collection<String>, isReadable: Bool) -> EnforcementMode {
    guard isObserving else { return .enforce }
    guard isEnforcing else {
      if ids.isEmpty || ids.contains(where: { clients[ClientID($0)] != nil }) { return .observe }
      return unknownClients == .observe ? .observe : .enforce
    }
    guard isReadable, ids.count == 1, let id = ids.first else { return .enforce }
    if let client = clients[ClientID(id)] { return client.mode }
    return unknownClients == .observe && !isEnforced(lookAlike: id) ? .observe : .enforce
  }

  /// Returns true if a server may take `id` for the id of an enforced client, here or upstream.
  public func isEnforced(lookAlike id: String) -> Bool { enforcedIDs.contains(id) }

  /// Returns true if a listed, observed client shares its id with the upstream id of an enforced client.
  public func sharesEnforcedUpstream(_ client: Client) -> Bool { enforcedIDs.contains(client.id.rawValue) }
}

/// A set of client ids in which two ids are equal if some server takes one for the other.
///
/// It keeps hashes. Where two ids have the same hash by chance, one request too many is refused.
struct FoldedIDs: Sendable {
  private var hashes: Set<Int> = []

  init() {}

  /// The ids of enforced clients and their ids at the upstream.
  init(enforcedIn clients: [ClientID: Client]) {
    for client in clients.values where client.mode == .enforce {
      hashes.insert(FoldedIDs.hash(client.id.rawValue))
      hashes.insert(FoldedIDs.hash(client.upstream.clientID.rawValue))
    }
  }

  /// Returns true if `id` equals one of the ids to a server that ignores case and spaces. An id with characters outside
  /// of printable ASCII is no identifier (RFC 6749, appendix A.1), and some collation may equate it with any id.
  func contains(_ id: String) -> Bool {
    guard !hashes.isEmpty else { return false }
    guard id.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) else { return true }
    return hashes.contains(FoldedIDs.hash(id))
  }

  private static func hash(_ id: String) -> Int {
    var hasher = Hasher()
    for byte in id.utf8 where byte != 0x20 {
      hasher.combine(byte &- 0x41 < 26 ? byte | 0x20 : byte)
    }
    return hasher.finalize()
  }
}
