import Reactor

/// The identities of a worker's latest clients.
///
/// Connections of one address (a proxy's, an office's, the other containers' of a pod) share what is said of it: made for
/// each, it would take half as much memory as all else of an idle connection.
final class IdentityCache {
  private struct Entry {
    let peer: Address
    let isTrusted: Bool
    let isSecure: Bool
    let isTold: Bool
    let identity: ClientIdentity
  }

  private var entries: [Entry] = []
  /// The entry that is replaced next.
  private var next = 0
  /// Compared one by one for each new connection.
  private static let limit = 8

  func identity(of peer: Address, isTrusted: Bool, isSecure: Bool, isTold: Bool) -> ClientIdentity {
    for entry in entries
    where entry.isTrusted == isTrusted && entry.isSecure == isSecure && entry.isTold == isTold
      && entry.peer.isSameHost(as: peer)
    {
      return entry.identity
    }
    let made = Entry(
      peer: peer, isTrusted: isTrusted, isSecure: isSecure, isTold: isTold,
      identity: ClientIdentity(peer, isTrusted: isTrusted, isSecure: isSecure, isTold: isTold))
    if entries.count < IdentityCache.limit {
      entries.append(made)
    } else {
      entries[next] = made
      next = (next + 1) % IdentityCache.limit
    }
    return made.identity
  }
}
