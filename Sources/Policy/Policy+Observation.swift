import OAuth

/// The mode of a request, which follows from the client ids that the request names (`I-observe`).
extension Policy {
  /// Returns the mode of a request.
  ///
  /// While no client is enforced, a request is observed even if it names no client or several clients, or cannot be
  /// read. As soon as one client is enforced, a request is observed only if it names exactly one client, and that
  /// client is observed or unknown. Otherwise an unreadable request could act for an enforced client.
  ///
  /// - Parameters:
  ///   - ids: The distinct client ids that occur anywhere in the request.
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

  /// Returns true if a server may treat `id` as the id of an enforced client, its own id or its upstream id.
  public func isEnforced(lookAlike id: String) -> Bool { enforcedIDs.contains(id) }

  /// Returns true if the id of `client`, which is observed, equals the upstream id of an enforced client.
  public func sharesEnforcedUpstream(_ client: Client) -> Bool { enforcedIDs.contains(client.id.rawValue) }
}

/// A set of client ids in which two ids are equal if some server treats them as the same.
///
/// The set contains hashes. A hash collision refuses one request too many, and never lets one through.
struct FoldedIDs: Sendable {
  private var hashes: Set<Int> = []

  init() {}

  /// Creates the set of the ids of enforced clients and of their ids at the upstream.
  init(enforcedIn clients: [ClientID: Client]) {
    for client in clients.values where client.mode == .enforce {
      hashes.insert(FoldedIDs.hash(client.id.rawValue))
      hashes.insert(FoldedIDs.hash(client.upstream.clientID.rawValue))
    }
  }

  /// Returns true if `id` equals an id of the set for a server that ignores case and spaces. An id with characters
  /// outside printable ASCII is not an identifier (RFC 6749, appendix A.1). It always counts as equal, because some
  /// database collation may equate it with any id.
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
