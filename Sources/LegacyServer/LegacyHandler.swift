public import HTTP
public import HTTP1
public import Proxy
import Reactor

/// Connects a legacy server with a worker of the proxy. The legacy server answers every request, and none is forwarded.
public final class LegacyHandler: AnsweringHandler {
  /// The maximum length of a body, in bytes: more than any form of the server needs.
  private static let bodyLimit = 64 * 1024

  private let server: LegacyAuthorizationServer

  /// Creates the handler of one worker.
  public init(_ server: LegacyAuthorizationServer) {
    self.server = server
  }

  /// Intercepts every request.
  public func route(_ head: RequestHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, client: ClientFacts) -> Route {
    .intercept(bodyLimit: LegacyHandler.bodyLimit)
  }

  /// Answers with the legacy server's response.
  public func respond(to request: Request, routeTag: UInt8, upstream: Upstream) async -> Reply {
    .response(server.respond(to: request, now: SystemClock.unixTime()))
  }

  /// Returns the error page for a request that the proxy refuses before it calls the handler.
  public func failure(_ failure: ProxyFailure, as form: ErrorForm, request: RequestReference) -> Response {
    switch failure {
    case .request(let error): LegacyPage.message(status: error.status, "Bad request", error.description)
    case .timeout: LegacyPage.message(status: 408, "Too slow", "The request did not arrive in time.")
    case .overloaded: LegacyPage.message(status: 503, "Busy", "Too many requests at once.")
    case .bodyTooLarge: LegacyPage.message(status: 413, "Too large", "The form is too large.")
    case .loop, .upstream: LegacyPage.message(status: 500, "Error", "Something went wrong.")
    }
  }
}
