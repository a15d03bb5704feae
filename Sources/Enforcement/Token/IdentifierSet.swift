public import OAuth
public import Policy

/// A set of client ids that also contains the spellings that some server takes for one of them.
///
/// Servers compare ids without regard to case, trim them, decode them twice, or fold them by a collation of their database
/// (`LiberalDecoding`). The set is computed once for a policy.
public struct IdentifierSet: Sendable {
  private let folded: Set<[UInt8]>

  public init(_ ids: some Sequence<ClientID>) {
    folded = Set(ids.map { IdentifierSet.fold($0.rawValue) })
  }

  public var isEmpty: Bool { folded.isEmpty }

  /// Returns true if some server may take `id` for one of the set.
  public func contains(_ id: String) -> Bool {
    guard !folded.isEmpty else { return false }
    return folded.contains(IdentifierSet.fold(id))
  }

  /// The lower-case ASCII that is left without spaces and control characters.
  private static func fold(_ id: String) -> [UInt8] {
    let bytes = Array(id.utf8)
    let isPlain = bytes.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "%") }
    let decoded = isPlain ? bytes.map(CanonicalPath.lowercased) : LenientDecoding.decoded(bytes)
    // A plus is a space to a server that decodes a form twice.
    return decoded.filter { $0 > 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "+") }
  }
}

/// The ids that need care at the endpoints which clients call, computed once for a policy.
public struct GuardedIdentifiers: Sendable {
  /// The upstream ids of enforced clients whose secret the gateway holds.
  public let held: IdentifierSet
  /// The ids of clients whose secret only the gateway knows.
  public let provedHere: IdentifierSet

  /// - Parameter asIfEnforced: True to take observed clients for enforced ones.
  public init(_ policy: Policy, asIfEnforced: Bool = false) {
    let lent = policy.clients.values.lazy.filter { client in
      (asIfEnforced || client.mode == .enforce) && client.upstream.clientSecret != nil
    }
    held = IdentifierSet(lent.map(\.settings.upstream.clientID))
    provedHere = IdentifierSet(policy.clients.values.lazy.filter { $0.secret != nil }.map(\.settings.id))
  }
}
