import Gateway
import OAuth
import Policy

/// The decisions that change from one policy to another, for generated requests of each client and for cases.
public struct PolicyDifference: Sendable {
  /// A request whose decision or upstream request changes.
  public struct Change: Sendable, Equatable {
    /// The words that describe the request.
    public let request: String
    /// The decision under the old policy.
    public let before: String
    /// The decision under the new policy.
    public let after: String
    /// The names of the parameters that change in the request for the upstream.
    public let upstream: [String]
  }

  /// The changes of one client.
  public struct ClientChanges: Sendable {
    /// The way in which the client itself changes.
    public enum Kind: String, Sendable {
      /// Only the new policy lists the client.
      case added
      /// Only the old policy lists the client.
      case removed
      /// Both policies list the client.
      case changed
      /// Neither policy lists the client.
      case unlisted
    }

    /// The id of the client; `nil` for requests without one.
    public let client: String?
    /// The way in which the client itself changes.
    public let kind: Kind
    /// The number of compared requests.
    public let requestCount: Int
    /// The changes in the order of the requests.
    public let changes: [Change]
  }

  /// The clients with at least one change, in alphabetical order, then the cases of no listed client.
  public let clients: [ClientChanges]
  /// The number of clients that were compared.
  public let comparedCount: Int
  /// The number of clients that were not compared, because there are more than the maximum.
  public let omittedCount: Int

  /// The number of changed decisions.
  public var changeCount: Int { clients.reduce(0) { $0 + $1.changes.count } }

  /// The id of a client that no policy lists.
  private static let unlistedID = "a-client-that-is-not-listed"

  /// Compares two policies.
  ///
  /// - Parameters:
  ///   - cases: Further requests with their names.
  ///   - maximumClients: The number of clients that are compared; the first in alphabetical order.
  public init(
    from old: Evaluator, to new: Evaluator, cases: [(name: String, request: TriedRequest)] = [],
    maximumClients: Int = .max
  ) {
    var changes: [ClientChanges] = []
    let ids = Set(old.policy.clients.keys).union(new.policy.clients.keys).map(\.rawValue).sorted()
    for id in ids.prefix(maximumClients) {
      let (before, after) = (old.policy.clients[ClientID(id)], new.policy.clients[ClientID(id)])
      let kind: ClientChanges.Kind = before == nil ? .added : after == nil ? .removed : .changed
      changes.append(PolicyDifference.changes(of: id, kind, from: old, to: new))
    }
    changes.append(PolicyDifference.changes(of: PolicyDifference.unlistedID, .unlisted, from: old, to: new))
    let compared = cases.map { entry in
      PolicyDifference.change(entry.name, entry.request, from: old, entry.request, to: new)
    }
    changes.append(
      ClientChanges(client: nil, kind: .unlisted, requestCount: cases.count, changes: compared.compactMap(\.self)))
    // A client that only one policy lists is shown even if each of its requests gets the same decision.
    clients = changes.filter { !$0.changes.isEmpty || $0.kind == .added || $0.kind == .removed }
    comparedCount = min(ids.count, maximumClients)
    omittedCount = ids.count - comparedCount
  }

  private static func changes(
    of id: String, _ kind: ClientChanges.Kind, from old: Evaluator, to new: Evaluator
  ) -> ClientChanges {
    var uris: [RedirectURI] = []
    for policy in [old.policy, new.policy] {
      for uri in policy.clients[ClientID(id)]?.redirectURIs ?? [] where !uris.contains(uri) { uris.append(uri) }
    }
    // Each policy gets the requests on its own paths. An endpoint that only one policy names gets the same request from
    // both.
    let before = requests(of: id, uris, for: old)
    let after = requests(of: id, uris, for: new)
    let known = Set(after.map(\.label))
    let oldRequests = Dictionary(before.map { ($0.label, $0.request) }, uniquingKeysWith: { first, _ in first })
    let all = after + before.filter { !known.contains($0.label) }
    return ClientChanges(
      client: id, kind: kind, requestCount: all.count,
      changes: all.compactMap { entry in
        change(entry.label, oldRequests[entry.label] ?? entry.request, from: old, entry.request, to: new)
      })
  }

  private static func requests(
    of id: String, _ uris: [RedirectURI], for evaluator: Evaluator
  ) -> [GeneratedRequests.Entry] {
    GeneratedRequests(
      id, uris: uris, endpoints: evaluator.policy.upstream.endpoints,
      devicePath: evaluator.policy.deviceAuthorizationPaths.first
    ).entries
  }

  private static func change(
    _ name: String, _ oldRequest: TriedRequest, from old: Evaluator, _ newRequest: TriedRequest, to new: Evaluator
  ) -> Change? {
    let (before, after) = (old.evaluate(oldRequest), new.evaluate(newRequest))
    let upstream = before.upstream == nil || after.upstream == nil ? [] : differences(before.upstream, after.upstream)
    guard before.summary != after.summary || !upstream.isEmpty else { return nil }
    return Change(request: name, before: before.summary, after: after.summary, upstream: upstream)
  }

  /// Returns the names of the parts in which two upstream requests differ.
  private static func differences(_ before: UpstreamPreview?, _ after: UpstreamPreview?) -> [String] {
    guard let before, let after, before != after else { return [] }
    var names: [String] = []
    if before.request != after.request { names.append("URL") }
    if before.authentication != after.authentication { names.append("client authentication") }
    for parameter in before.parameters where !after.parameters.contains(parameter) { names.append(parameter.name) }
    for parameter in after.parameters
    where !before.parameters.contains(parameter) && !names.contains(parameter.name) { names.append(parameter.name) }
    return names.isEmpty ? ["order of the parameters"] : names
  }
}
