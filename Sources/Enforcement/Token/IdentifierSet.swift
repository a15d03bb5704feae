internal import ByteText
public import OAuth
internal import PathReading
public import Policy

/// A set of client ids. It also contains each text that some server treats as one of the ids.
///
/// Servers may ignore case in ids, trim them, decode them twice, or compare them by a database collation
/// (`LenientDecoding`).
public struct IdentifierSet: Sendable {
  private let folded: Set<[UInt8]>

  /// Creates a set with the ids.
  public init(_ ids: some Sequence<ClientID>) {
    folded = Set(ids.map { IdentifierSet.fold($0.rawValue) })
  }

  /// True if the set is empty.
  public var isEmpty: Bool { folded.isEmpty }

  /// True if some server may treat `id` as one of the ids.
  public func contains(_ id: String) -> Bool {
    guard !folded.isEmpty else { return false }
    return folded.contains(IdentifierSet.fold(id))
  }

  /// Returns a text that is the same for all ids that a server may treat as equal: decoded, in lower case, and without
  /// spaces, plus signs and control characters.
  private static func fold(_ id: String) -> [UInt8] {
    let bytes = Array(id.utf8)
    let isPlain = bytes.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "%") }
    let decoded = isPlain ? bytes.map(\.lowercasedASCII) : LenientDecoding.decoded(bytes)
    // A server that decodes a form twice reads a plus as a space.
    return decoded.filter { $0 > 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "+") }
  }
}

/// The ids that are protected at the endpoints that clients call. Creating the sets takes time in proportion to the
/// number of clients, so it is done once for each policy.
public struct GuardedIdentifiers: Sendable {
  /// The upstream ids of enforced clients for which the gateway holds an upstream secret.
  public let held: IdentifierSet
  /// The ids of clients that authenticate to the gateway with a secret that must not be sent upstream.
  public let provedHere: IdentifierSet

  /// Collects the ids of a policy.
  ///
  /// - Parameter asIfEnforced: True to treat observed clients as enforced ones.
  public init(_ policy: Policy, asIfEnforced: Bool = false) {
    let withHeldSecret = policy.clients.values.lazy.filter { client in
      (asIfEnforced || client.mode == .enforce) && client.upstream.clientSecret != nil
    }
    held = IdentifierSet(withHeldSecret.map(\.settings.upstream.clientID))
    provedHere = IdentifierSet(policy.clients.values.lazy.filter { $0.secret != nil }.map(\.settings.id))
  }
}
