/// The requests of all clients in logs. The number of clients is bounded.
public struct Traffic: Sendable {
  /// The maximum number of different clients. Requests of further clients are counted together.
  public static let maximumClients = 10_000

  /// The clients, by id.
  public private(set) var clients: [String: ClientTraffic] = [:]
  /// The number of lines about a request of a client, about something else, and in no known format.
  public private(set) var requestLines = 0
  /// The number of lines about something else.
  public private(set) var otherLines = 0
  /// The number of lines in no known format.
  public private(set) var unreadableLines = 0
  /// The number of requests of further clients, after the limit was reached.
  public private(set) var omittedRequests = 0
  /// The number of token requests in access logs, which do not name the client.
  public private(set) var anonymousTokenRequests = 0
  /// The paths of authorization and token requests in access logs.
  public private(set) var authorizationPaths = Tally(limit: 20)
  /// The paths of token requests in access logs.
  public private(set) var tokenPaths = Tally(limit: 20)

  /// The number of requests before `since`.
  public private(set) var earlierRequests = 0
  private let since: String

  /// Creates an empty summary.
  ///
  /// - Parameter since: The beginning of the time, in the format of RFC 3339 in UTC, or only its date. Earlier requests
  ///   are not added.
  public init(since: String = "") { self.since = since }

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

  private mutating func add(_ seen: SeenRequest) {
    requestLines += 1
    guard seen.time >= since else {
      earlierRequests += 1
      return
    }
    switch seen.endpoint {
    case .authorization: authorizationPaths.add(seen.path)
    case .token: tokenPaths.add(seen.path)
    case .other: break
    }
    guard let id = seen.client else {
      anonymousTokenRequests += 1
      return
    }
    guard clients[id] != nil || clients.count < Traffic.maximumClients else {
      omittedRequests += 1
      return
    }
    clients[id, default: ClientTraffic(id: id, time: seen.time)].add(seen)
  }
}
