import Reactor

/// The identities that a worker has created most recently, at most `limit`.
///
/// Connections from one address (a proxy, an office, the other containers of a pod) share one identity to save memory:
/// an identity takes half as much memory as the rest of an idle connection.
final class IdentityCache {
  private struct Entry {
    let peer: Address
    let isSecure: Bool
    let isFromProxyProtocol: Bool
    let identity: ClientIdentity
  }

  private var entries: [Entry] = []
  /// The index of the entry that is replaced next.
  private var next = 0
  /// The maximum number of entries; a new connection compares them one by one.
  private static let limit = 8

  /// Returns the identity of a client at `peer` with these properties. Creates it if it is not in the cache.
  ///
  /// - Parameters:
  ///   - trusts: Returns true for a trusted proxy; the same function in all calls between two calls of ``removeAll()``.
  ///   - isSecure: true if the client's connection uses TLS.
  ///   - isFromProxyProtocol: true if a proxy supplied the address in the PROXY protocol.
  func identity(
    of peer: Address, trusts: @escaping @Sendable (Address) -> Bool, isSecure: Bool, isFromProxyProtocol: Bool
  ) -> ClientIdentity {
    for entry in entries
    where entry.isSecure == isSecure && entry.isFromProxyProtocol == isFromProxyProtocol
      && entry.peer.isSameHost(as: peer)
    {
      return entry.identity
    }
    let made = Entry(
      peer: peer, isSecure: isSecure, isFromProxyProtocol: isFromProxyProtocol,
      identity: ClientIdentity(peer, trusts: trusts, isSecure: isSecure, isFromProxyProtocol: isFromProxyProtocol))
    if entries.count < IdentityCache.limit {
      entries.append(made)
    } else {
      entries[next] = made
      next = (next + 1) % IdentityCache.limit
    }
    return made.identity
  }

  /// Forgets all identities, because other proxies are trusted now.
  func removeAll() { entries.removeAll() }
}
