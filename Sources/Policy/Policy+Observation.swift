internal import ByteText
import OAuth
internal import PathReading

/// The mode of a request, which depends on the client ids in it (invariant `I-observe`).
extension Policy {
  /// Returns the mode of a request.
  ///
  /// If `isObserving` is false, every request is enforced.
  ///
  /// If `isEnforcing` is false, every request is observed, even if it has no client id or several, or cannot be parsed.
  /// There is one exception: if the policy refuses unknown clients, a request is enforced if it has client ids but the
  /// policy lists none of them.
  ///
  /// If `isObserving` and `isEnforcing` are true, a request is observed only if it certainly contains exactly one
  /// client id, and if this id belongs to an observed client or is an unlisted id. A request with an unlisted id is
  /// observed only if `unknownClients` is `observe` and no server can take the id for that of an enforced client.
  /// Without these conditions, a request could be observed and still act for an enforced client.
  ///
  /// A request with an id that looks like one that the gateway issued, or with the URL of a metadata document that the
  /// policy permits, is always enforced, because the upstream cannot know this id.
  ///
  /// - Parameters:
  ///   - ids: The distinct client ids that occur anywhere in the request.
  ///   - isUnambiguous: True if no server can find another client id in the request.
  public func mode(forClientIDs ids: some Collection<String>, isUnambiguous: Bool) -> EnforcementMode {
    guard isObserving, !ids.contains(where: isUnlistedID) else { return .enforce }
    guard isEnforcing else {
      if ids.isEmpty || ids.contains(where: { clients[ClientID($0)] != nil }) { return .observe }
      return unknownClients == .observe ? .observe : .enforce
    }
    guard isUnambiguous, ids.count == 1, let id = ids.first else { return .enforce }
    if let client = clients[ClientID(id)] { return client.mode }
    return unknownClients == .observe && !resemblesEnforcedID(id) ? .observe : .enforce
  }

  /// True if the id has the form of those of registered clients, or is the URL of a metadata document that the policy
  /// permits. The upstream knows no such id.
  public func isUnlistedID(_ id: String) -> Bool {
    ClientID.isIssued(id) || clientDocuments?.url(id) != nil && clients[ClientID(id)] == nil
  }

  /// True if a server may take `id` for the id or the upstream id of an enforced client. Always false unless the policy
  /// enforces some requests and observes others.
  public func resemblesEnforcedID(_ id: String) -> Bool { enforcedIDs.contains(id) }

  /// True if a server may take the id of `client` for the id or the upstream id of an enforced client.
  ///
  /// - Parameter client: An observed client.
  public func resemblesEnforcedClient(_ client: Client) -> Bool { enforcedIDs.contains(client.id.rawValue) }
}

/// A set of client ids. Two ids are the same element if some server treats them as equal.
///
/// The set contains hashes. A collision can only make the gateway stricter: it may enforce a request of an unknown
/// client instead of observing the request, or refuse an observed client a redirect URI that an enforced client also
/// has.
struct FoldedIDs: Sendable {
  private var hashes: Set<Int> = []

  init() {}

  /// Creates a set with the ids of enforced clients and their upstream ids, and with further upstream ids.
  init(enforcedIn clients: [ClientID: Client], and upstreamIDs: [ClientID] = []) {
    for id in upstreamIDs { hashes.insert(FoldedIDs.hash(id.rawValue)) }
    for client in clients.values where client.mode == .enforce {
      hashes.insert(FoldedIDs.hash(client.id.rawValue))
      hashes.insert(FoldedIDs.hash(client.upstream.clientID.rawValue))
    }
  }

  /// True if a server may treat `id` as equal to an element (`LenientDecoding.identifier`). Also true for every id with
  /// characters other than printable ASCII, as it is or decoded, unless the set is empty: such an id is not valid (RFC
  /// 6749, appendix A.1), and some database may treat it as equal to any other id.
  func contains(_ id: String) -> Bool {
    guard !hashes.isEmpty else { return false }
    guard id.utf8.allSatisfy(FoldedIDs.isPrintable),
      PercentDecoding.repeated(id.utf8.span).allSatisfy(FoldedIDs.isPrintable)
    else { return true }
    return hashes.contains(FoldedIDs.hash(id))
  }

  private static func isPrintable(_ byte: UInt8) -> Bool { byte >= 0x20 && byte < 0x7f }

  private static func hash(_ id: String) -> Int { LenientDecoding.identifier(id).hashValue }
}
