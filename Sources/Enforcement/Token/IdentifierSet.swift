public import OAuth
public import Policy

/// A set of client ids that also contains the spellings that some server reads as one of them.
///
/// Some servers ignore case in ids, trim them, decode them twice, or fold them by a database collation
/// (`LenientDecoding`). The set is computed once per policy.
public struct IdentifierSet: Sendable {
  private let folded: Set<[UInt8]>

  /// Creates the set of the ids and all their spellings.
  public init(_ ids: some Sequence<ClientID>) {
    folded = Set(ids.map { IdentifierSet.fold($0.rawValue) })
  }

  /// True if the set contains no id.
  public var isEmpty: Bool { folded.isEmpty }

  /// True if some server may read `id` as one of the set.
  public func contains(_ id: String) -> Bool {
    guard !folded.isEmpty else { return false }
    return folded.contains(IdentifierSet.fold(id))
  }

  /// The id as lower-case ASCII, without spaces and control characters.
  private static func fold(_ id: String) -> [UInt8] {
    let bytes = Array(id.utf8)
    let isPlain = bytes.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "%") }
    let decoded = isPlain ? bytes.map(CanonicalPath.lowercased) : LenientDecoding.decoded(bytes)
    // A server that decodes a form twice reads a plus as a space.
    return decoded.filter { $0 > 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "+") }
  }
}

/// The ids that need protection at the endpoints that clients call, computed once per policy.
public struct GuardedIdentifiers: Sendable {
  /// The upstream ids of enforced clients whose secret the gateway holds.
  public let held: IdentifierSet
  /// The ids of clients whose secret only the gateway knows.
  public let provedHere: IdentifierSet

  /// Collects the ids of a policy.
  ///
  /// - Parameter asIfEnforced: True to treat observed clients as enforced ones.
  public init(_ policy: Policy, asIfEnforced: Bool = false) {
    let lent = policy.clients.values.lazy.filter { client in
      (asIfEnforced || client.mode == .enforce) && client.upstream.clientSecret != nil
    }
    held = IdentifierSet(lent.map(\.settings.upstream.clientID))
    provedHere = IdentifierSet(policy.clients.values.lazy.filter { $0.secret != nil }.map(\.settings.id))
  }
}
