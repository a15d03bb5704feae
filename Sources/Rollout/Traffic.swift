/// The requests of all clients in logs. The number of clients is bounded.
///
/// Anyone can send requests with any client id, so a log may contain any number of random ids. They must not hide the
/// clients that the operator looks for:
///
/// - Clients of the policy always have a place, if the policy is known.
/// - So have, up to ``maximumClients``, ids for which the server has answered a token request with 200. It refuses ids that
///   it does not know.
/// - All other ids share ``maximumClients`` places. If they are taken, the networks with the most ids lose those with the
///   fewest requests (``removeLeastUsed()``, which the caller uses at the end of the log, too).
public struct Traffic: Sendable {
  /// The maximum number of ids that the server knows, and that of all other ids. Requests of further ids are counted
  /// together.
  public static let maximumClients = 10_000

  /// The clients, by id.
  public internal(set) var clients: [String: ClientTraffic] = [:]
  /// The number of ids that no policy lists and the server has not accepted, and of those that it has accepted.
  var (unprovenCount, provenCount) = (0, 0)
  /// The number of lines about a request of a client, about something else, and in no known format.
  public private(set) var requestLines = 0
  /// The number of lines about something else.
  public private(set) var otherLines = 0
  /// The number of lines in no known format.
  public private(set) var unreadableLines = 0
  /// The number of requests of further clients, after the limit was reached.
  public internal(set) var omittedRequests = 0
  /// The number of token requests in access logs, which do not name the client.
  public private(set) var anonymousTokenRequests = 0
  /// The paths of authorization and token requests in access logs.
  public private(set) var authorizationPaths = Tally(limit: 20)
  /// The paths of token requests in access logs.
  public private(set) var tokenPaths = Tally(limit: 20)
  /// The paths from which the server has sent codes that it accepted afterwards.
  public private(set) var completionPaths = Tally(limit: 50)

  /// The number of requests before `since`.
  public private(set) var earlierRequests = 0
  private let since: String
  /// The ids that the policy lists.
  let listed: Set<String>

  /// Creates an empty summary.
  ///
  /// - Parameters:
  ///   - since: The beginning of the time, in the format of RFC 3339 in UTC, or only its date. Earlier requests are not
  ///     added.
  ///   - listed: The ids that the policy lists, if there is one.
  public init(since: String = "", listed: Set<String> = []) {
    self.since = since
    self.listed = listed
  }

  /// Adds a line of a log. An empty line is ignored.
  public mutating func add(_ line: [UInt8]) {
    let line = line.last == UInt8(ascii: "\r") ? Array(line.dropLast()) : line
    guard !line.isEmpty else { return }
    switch LogLine(parsing: line) {
    case .request(let seen): add(seen)
    case .other: otherLines += 1
    case .unreadable: unreadableLines += 1
    }
  }

  /// Adds a line that is too long to be read.
  public mutating func addUnreadableLine() { unreadableLines += 1 }

  /// The entries for `upstream.completion_paths`, the most frequent first: of each path the part in front of the first id.
  /// A path that such an entry cannot have, and one that begins with an id, is left out.
  var completionPrefixes: [String] {
    var prefixes: [String] = []
    for (path, _) in completionPaths.sorted {
      let segments = path.split(separator: "/", omittingEmptySubsequences: false).prefix { $0 != "*" }
      let prefix = segments.joined(separator: "/")
      guard prefix.count > 1, StarterPolicy.canList(prefix), !prefixes.contains(prefix) else { continue }
      prefixes.append(prefix)
    }
    return prefixes
  }

  private mutating func add(_ seen: SeenRequest) {
    requestLines += 1
    guard seen.time >= since else {
      earlierRequests += 1
      return
    }
    switch seen.endpoint {
    case .authorization: authorizationPaths.add(seen.path)
    case .token:
      tokenPaths.add(seen.path)
      // Any page may repeat a text as if it were a code. A code that the server has accepted is not such a text.
      if seen.provesClient { completionPaths.add(seen.completionPath) }
    case .other: break
    }
    guard let id = seen.client else {
      anonymousTokenRequests += 1
      return
    }
    add(seen, of: id)
  }
}
