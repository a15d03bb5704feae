public import HTTP
public import HTTP1
public import Telemetry

/// The decisions that a proxy asks for about each request. One per worker, confined to it.
public protocol Handler: AnyObject {
  /// Decides what happens to a request, by its head. On the hot path: looks at bytes, makes no `String` for a pass.
  ///
  /// `host` is the host that the client named, as far as it is believed.
  func route(_ head: RequestHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, client: ClientFacts) -> Route

  /// Decides what happens to a request for which `route` returned `inspect`, by the beginning of its body.
  func routeForm(
    _ head: RequestHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, client: ClientFacts, body: [UInt8]
  ) -> Route

  /// Answers a request that was intercepted.
  ///
  /// - Parameter tag: The tag that `route` gave the request.
  func respond(to request: Request, tag: UInt8, upstream: Upstream) async -> Reply

  /// Judges a `Location` (or `Content-Location`, `Refresh` target) of a response that passes.
  ///
  /// - Parameters:
  ///   - carriesCookie: True if the request that is answered carries the private cookie.
  ///   - request: The number of that request (`Request.number`).
  func passingLocation(_ location: String, carriesCookie: Bool, request: UInt64) -> LocationVerdict

  /// Returns true if a response that passes must not reach the client because of a `Link` with this value.
  func withholdsLink(_ value: String, carriesCookie: Bool) -> Bool

  /// True if `dropped` is called for fields of requests that do not go upstream (`IdentityFields`).
  var observesDroppedFields: Bool { get }

  /// Notes a field that does not go upstream because only a trusted proxy may send it.
  ///
  /// - Parameter name: The name or the glob by which it was recognised, never text of the request.
  func dropped(field name: String, client: ClientFacts)

  /// Returns the response that the client gets in place of a withheld one.
  func respond(to withheld: WithheldResponse, upstream: Upstream) async -> Response

  /// Edits the head of a response that passes to a browser that carries the private cookie.
  func editPassing(_ response: inout Response)

  /// The answer of the gateway to a request that failed outside of `respond`.
  func failure(_ failure: ProxyFailure, as form: ErrorForm) -> Response
}

extension Handler {
  /// For handlers that never say `inspect`.
  public func routeForm(
    _ head: RequestHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, client: ClientFacts, body: [UInt8]
  ) -> Route { .pass }

  /// For handlers that judge no links.
  public func withholdsLink(_ value: String, carriesCookie: Bool) -> Bool { false }

  /// For handlers that note no dropped fields.
  public var observesDroppedFields: Bool { false }
  public func dropped(field name: String, client: ClientFacts) {}
}

/// The facts on a client that are not in the request.
public struct ClientFacts {
  public let peer: Peer
  /// The host that a trusted proxy says the client named; `nil` when the request's own counts.
  public let forwardedHost: String?
  /// The number of the request in its worker (`Request.number`).
  public let request: UInt64

  public init(peer: Peer, forwardedHost: String?, request: UInt64 = 0) {
    self.peer = peer
    self.forwardedHost = forwardedHost
    self.request = request
  }
}

/// The handling of a request.
public enum Route {
  /// Forwarded as it is, but for what a proxy must change.
  case pass
  /// Given to `routeForm` once its body is whole or fills the receive buffer, and not changed by that.
  case inspect
  /// Read whole, with a body of at most so many bytes, and given to `respond` of the same handler.
  ///
  /// The tag is the handler's own note of what the request is, so that `respond` does not have to classify it again.
  case intercept(bodyLimit: Int, tag: UInt8 = 0)
  /// Answered without the upstream.
  case answer(Response)
  /// The same, because the request is not allowed.
  case refuse(Response)
}

/// The answer to an intercepted request.
public enum Reply {
  case response(Response)
  /// A response that refuses the request.
  case refusal(Response)
  /// The upstream's body, streamed behind this head.
  case relay(UpstreamResponse, Response)
}

/// The handling of a response with a location.
public enum LocationVerdict: Equatable, Sendable {
  case keep
  case replace(String)
  /// The response must not reach the browser as it is: the handler answers in its place (``WithheldResponse``).
  case withhold
}

/// A response that was about to pass and has a location that the browser must not get.
public struct WithheldResponse {
  /// The head from the upstream, without the body, which is discarded.
  public let response: Response
  /// The request that it answers.
  public let request: Request
  /// True if `request` is complete. The body is held only for a request that carries the private cookie, up to
  /// ``bodyLimit``, and only as far as the upstream received it.
  public let isComplete: Bool

  /// Bytes of a body that are held: a login or consent form has far less.
  public static let bodyLimit = 64 * 1024

  public init(response: Response, request: Request, isComplete: Bool) {
    self.response = response
    self.request = request
    self.isComplete = isComplete
  }
}

/// Why the proxy answers itself.
public enum ProxyFailure: Error, Equatable, Sendable {
  /// The request is malformed or beyond a limit.
  case request(MessageError)
  /// The client was too slow.
  case timeout
  /// The gateway, or this client, has as much to do as it may have.
  case overloaded(LimitKind)
  case bodyTooLarge
  case loop
  case upstream(UpstreamFailure)
}

/// Why the upstream did not answer.
public enum UpstreamFailure: Error, Equatable, Sendable {
  /// Name resolution failed or no address accepted the connection. Nothing was sent.
  case unreachable
  /// All connections are in use, and none came free in time. Nothing was sent.
  case busy
  /// The connection did not stand in time. Nothing was sent.
  case connectTimeout
  /// The TLS handshake failed, or the server is not who it should be. Nothing was sent.
  case insecure
  /// No answer in time.
  case responseTimeout
  /// The connection ended before the answer was whole.
  case reset
  /// The answer is not HTTP as it should be, in a content coding that is not understood, or beyond a limit. The reason is
  /// for the operator, and quotes nothing of the answer.
  case malformed(String)
  /// The request cannot be written as it is meant. Nothing was sent.
  case unsendable
  /// The client went away and does not wait for the answer.
  case clientGone(afterSending: Bool)

  /// True if the upstream certainly did not receive the request.
  public var nothingWasSent: Bool {
    switch self {
    case .unreachable, .busy, .connectTimeout, .insecure, .unsendable, .clientGone(afterSending: false): true
    case .responseTimeout, .reset, .malformed, .clientGone(afterSending: true): false
    }
  }

  /// RFC 9110, sections 15.6.3 to 15.6.5.
  public var status: Int {
    switch self {
    case .unreachable, .busy: 503
    case .connectTimeout, .responseTimeout: 504
    case .reset, .malformed, .insecure, .unsendable, .clientGone: 502
    }
  }
}
