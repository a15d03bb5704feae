import HTTP1
import Reactor

/// The reason why a request is refused because of the routes. Nothing was sent to the upstream.
enum RouteRefusal: Error {
  /// Servers may read the path as paths of different routes.
  case ambiguousPath
  /// The announced length of the body is more than the route permits.
  case bodyTooLarge(limit: Int)
  /// The head has no room for the fields of the route.
  case noRoom

  var failure: Exchange.Failure {
    switch self {
    case .ambiguousPath:
      .request(MessageError(status: 400, "a path that servers may read as paths of different routes"))
    case .bodyTooLarge(let limit): .bodyTooLarge(limit: limit)
    case .noRoom:
      .request(MessageError(status: 431, "a head without room for the fields of its route", limit: .bytes))
    }
  }
}

/// The settings of a passing request by its path.
extension Exchange {
  /// Finds the route of the request whose head is at the front of the client's input, and removes the fields that it
  /// replaces or removes from `requestFields`. Called only if there are routes.
  @inline(never)
  func findRoute(_ head: RequestHead) -> RouteRefusal? {
    guard let routes = worker.settings.routes else { return nil }
    do throws(RouteRefusal) {
      route = try fromClient.withSpan { (bytes: Span<UInt8>) throws(RouteRefusal) in
        try routes.route(bytes.extracting(head.path))
      }
    } catch {
      return error
    }
    guard let route else { return nil }
    deadlines = ExchangeDeadlines(requestTimeout: route.requestTimeout, now: poller.now)
    fromClient.withSpan { requestFields.remove(route.requestFields.names, $0) }
    if case .length(let count) = head.body, count > route.bodyLimit { return .bodyTooLarge(limit: route.bodyLimit) }
    return nil
  }

  /// Appends the fields that the route sets to the head for the upstream. Returns false if there is no room for them and
  /// for the end of the head (`RequestRewriter.writeEnd`).
  @inline(never)
  func appendRouteFields() -> Bool {
    guard let lines = route?.requestFields.lines else { return true }
    let endSize = 128
    guard lines.reduce(endSize, { $0 + $1.count }) <= toUpstream.room else { return false }
    for line in lines { toUpstream.append(line) }
    return true
  }
}
