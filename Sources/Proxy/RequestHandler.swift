public import HTTP
public import HTTP1
public import Reactor
public import Telemetry
public import Time

/// The decisions that a proxy needs for each request. Each worker has its own handler and uses it only on its thread.
public protocol RequestHandler: AnyObject {
  /// Decides the handling of a request from its head. This is on the hot path: the method works on bytes and creates no
  /// `String` for a request that passes.
  ///
  /// - Parameters:
  ///   - bytes: the head.
  ///   - fields: the positions of the header fields in `bytes`.
  func route(_ head: RequestHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, client: ClientFacts) -> Route

  /// Decides the handling of a request for which `route` returned `inspect`.
  ///
  /// - Parameter body: the decoded body. Only the beginning if the receive buffer became full or the framing of the
  ///   rest is malformed.
  func routeForm(
    _ head: RequestHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, client: ClientFacts, body: Span<UInt8>
  ) -> Route

  /// Charges the client of a request for the decoding of its chunks, whether the body was complete or refused.
  func chargeDecoding(_ time: Nanoseconds, to client: Peer)

  /// Answers an intercepted request.
  ///
  /// - Parameter routeTag: the tag that `route` gave to the request.
  func respond(to request: Request, routeTag: UInt8, upstream: Upstream) async -> Reply

  /// Decides on the value of the `Location`, `Content-Location` or `Refresh` field of a passing response.
  ///
  /// - Parameter path: Returns the path of the request, as sent.
  func passingLocation(
    _ location: String, in response: PassingResponseFacts, path: () -> [UInt8]
  ) -> LocationVerdict

  /// Returns true if a passing response with these values of `Link` fields must not reach the client.
  func withholdsLinks(_ values: [String], requestHasHandlerCookie: Bool) -> Bool

  /// True if the proxy must call `dropped` for each field that is not forwarded (`IdentityFields`).
  var observesDroppedFields: Bool { get }

  /// Reports a field that is not forwarded because only a trusted proxy may send it.
  ///
  /// - Parameter name: the name or glob that matched, never text of the request.
  func dropped(field name: String, client: ClientFacts)

  /// Reports a passing request with a cookie that some server reads like a parameter
  /// (`ProxyConfiguration.cookieParameter`).
  ///
  /// - Parameter name: the name of the parameter.
  func found(parameterInCookie name: String, client: ClientFacts)

  /// Reports a peculiarity of a passing response.
  func found(_ finding: ResponseFinding, request: RequestReference)

  /// Returns the response that the client gets in place of a withheld one.
  func respond(to withheld: WithheldResponse, upstream: Upstream) async -> Response

  /// Edits the head of a passing response to a request that carries the handler's own cookie.
  func editPassing(_ response: inout Response)

  /// Returns the gateway's response to a request that failed outside of `respond`: a page for people, or problem
  /// details for programs.
  func failure(_ failure: ProxyFailure, as form: ErrorForm, request: RequestReference) -> Response

  /// Returns the response to an intercepted request whose body is longer than its limit, if its endpoint has a form of
  /// errors of its own; `nil` for the response of ``failure(_:as:request:)``.
  func responseToLongBody(limit: Int, routeTag: UInt8, request: RequestReference) -> Response?

  /// Informs the operator of a request that the gateway answered with an error, or whose response was cut.
  func failed(_ report: FailureReport)

  /// The ids of the worker's requests; `nil` if the handler gives them none.
  var requestIDs: RequestIDs? { get }
}

extension RequestHandler {
  /// Returns the id of a request: the one that a trusted proxy chose, or else that of the gateway; empty if there is none.
  ///
  /// For the logs, for pages, and for the `X-Request-ID` field of passing requests and their responses if
  /// `ProxyConfiguration.addsRequestIDs` is true.
  public func requestID(_ request: RequestReference) -> String {
    request.proxyID ?? requestIDs?.id(request.number) ?? ""
  }
}

extension RequestHandler {
  /// Returns `pass`. For handlers whose `route` never returns `inspect`.
  public func routeForm(
    _ head: RequestHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, client: ClientFacts, body: Span<UInt8>
  ) -> Route { .pass }

  /// Does nothing. For handlers that do not limit the processor time of a client.
  public func chargeDecoding(_ time: Nanoseconds, to client: Peer) {}

  /// Returns false. For handlers that ignore links.
  public func withholdsLinks(_ values: [String], requestHasHandlerCookie: Bool) -> Bool { false }

  /// Returns `nil`. For handlers whose endpoints have no form of errors.
  public func responseToLongBody(limit: Int, routeTag: UInt8, request: RequestReference) -> Response? { nil }

  /// Does nothing. For handlers without an operator.
  public func failed(_ report: FailureReport) {}

  /// `nil`. For handlers whose configuration adds no ids.
  public var requestIDs: RequestIDs? { nil }

  /// False. For handlers that do not report dropped fields.
  public var observesDroppedFields: Bool { false }
  /// Does nothing.
  public func dropped(field name: String, client: ClientFacts) {}
  /// Does nothing.
  public func found(parameterInCookie name: String, client: ClientFacts) {}
  /// Does nothing.
  public func found(_ finding: ResponseFinding, request: RequestReference) {}
}

/// A sign in a response that the upstream does not know its public address. The raw value is the finding in the log.
public enum ResponseFinding: String, Sendable {
  /// A URL with the gateway's origin, but http in place of https (`ProxyConfiguration.insecureOrigins`).
  case insecureLocation = "location-insecure"
  /// A `Set-Cookie` whose `Domain` does not contain the gateway's host, so that browsers reject the cookie.
  case foreignCookieDomain = "cookie-domain"
}

/// A handler that answers each request itself. The proxy calls the functions of this extension only for responses to
/// forwarded requests, so never.
public protocol AnsweringHandler: RequestHandler {}

extension AnsweringHandler {
  /// Withholds the response.
  public func passingLocation(
    _ location: String, in response: PassingResponseFacts, path: () -> [UInt8]
  ) -> LocationVerdict { .withhold }

  /// Returns an empty response with 502.
  public func respond(to withheld: WithheldResponse, upstream: Upstream) async -> Response { Response(status: 502) }

  /// Does nothing.
  public func editPassing(_ response: inout Response) {}
}

/// The facts about a client that are not in the request.
public struct ClientFacts {
  /// The client's address and transport, according to the connection or to a trusted proxy.
  public let peer: Peer
  /// The host that the client used, according to a trusted proxy; `nil` if no trusted proxy names one.
  public let forwardedHost: String?
  /// The facts from which the id of the request follows.
  public let reference: RequestReference

  /// Creates the facts of one request.
  public init(peer: Peer, forwardedHost: String?, reference: RequestReference = RequestReference()) {
    self.peer = peer
    self.forwardedHost = forwardedHost
    self.reference = reference
  }
}

/// The handling of a request.
public enum Route {
  /// Forwards the request, changed only as a proxy must change it.
  case pass
  /// Calls `routeForm` once the body is complete or malformed, or `limit` bytes of it have arrived, or the receive buffer is
  /// full and there is no memory for a larger one. The request stays unchanged.
  case inspect(limit: Int)
  /// Reads the whole request, with a body of at most `bodyLimit` bytes, and calls `respond` of the same handler.
  ///
  /// The tag is a number by which `respond` knows how `route` has classified the request. The proxy only passes the tag
  /// on.
  case intercept(bodyLimit: Int, tag: UInt8 = 0)
  /// Answers without the upstream.
  case answer(Response)
  /// Answers without the upstream, because the request is not allowed.
  case refuse(Response)
  /// Answers with the error response for a limit that the client has reached (`ProxyFailure.overloaded`), without
  /// reading more of the request.
  case overLimit(LimitKind)

  /// True if the request is forwarded, or may be.
  var mayPass: Bool {
    switch self {
    case .pass, .inspect: true
    case .intercept, .answer, .refuse, .overLimit: false
    }
  }
}

/// The answer to an intercepted request.
public enum Reply {
  /// A response that the gateway holds as a whole.
  case response(Response)
  /// A response that refuses the request.
  case refusal(Response)
  /// The error response for a limit that the client has reached (`ProxyFailure.overloaded`).
  case overLimit(LimitKind)
  /// Sends the head of the `Response`, and then streams the body of the `UpstreamResponse`.
  case relay(UpstreamResponse, Response)
}

/// The facts about a passing response with a `Location`, `Content-Location` or `Refresh` field.
public struct PassingResponseFacts: Sendable {
  /// The method of the request that the response answers.
  public let method: Method
  /// The status code.
  public let status: Int
  /// The kind of the field.
  public let field: KnownField
  /// True if the request carries the handler's own cookie (`ProxyConfiguration.handlerCookie`).
  public let requestHasHandlerCookie: Bool
  /// The request that the response answers.
  public let request: RequestReference

  /// Creates the facts.
  public init(
    method: Method, status: Int, field: KnownField, requestHasHandlerCookie: Bool, request: RequestReference
  ) {
    self.method = method
    self.status = status
    self.field = field
    self.requestHasHandlerCookie = requestHasHandlerCookie
    self.request = request
  }

  /// True for the `Location` of a redirect, and for `Refresh`: a browser goes there without an action of the user.
  public var isFollowed: Bool { field == .refresh || field == .location && (300..<400).contains(status) }
}

/// The handling of a response with a `Location`, `Content-Location` or `Refresh` field.
public enum LocationVerdict: Equatable, Sendable {
  case keep
  case replace(String)
  /// Does not let the response reach the browser: the handler answers in its place (``WithheldResponse``).
  case withhold
}

/// A passing response with a location or link that the browser must not get.
public struct WithheldResponse {
  /// The upstream's head, without the body, which is discarded.
  public let response: Response
  /// The request that the response answers.
  public let request: Request
  /// True if `request` is complete. Its body is kept only if the request carries the handler's own cookie, and dropped
  /// if it is longer than ``ProxyLimits/requestCopy`` or memory is short. If the upstream answered early, the rest of
  /// the body is missing.
  public let isComplete: Bool

  /// Creates the input of `RequestHandler.respond(to:upstream:)`.
  public init(response: Response, request: Request, isComplete: Bool) {
    self.response = response
    self.request = request
    self.isComplete = isComplete
  }
}

/// The reason why the proxy itself answers a request with an error.
public enum ProxyFailure: Error, Equatable, Sendable {
  /// The request is malformed or exceeds a limit.
  case request(MessageError)
  /// The client was too slow.
  case timeout
  /// The gateway, or this client, has reached a limit on concurrent work.
  case overloaded(LimitKind)
  /// The body has more than `limit` bytes.
  case bodyTooLarge(limit: Int)
  /// The request has already passed this gateway.
  case loop
  case upstream(UpstreamFailure)
}

/// The reason why there is no complete response from the upstream.
public enum UpstreamFailure: Error, Equatable, Sendable {
  /// Name resolution failed or no address accepted the connection. Nothing was sent.
  case unreachable
  /// All connections are in use, and the request has waited too long for one or has found the queue full. Nothing was
  /// sent.
  case poolExhausted
  /// The connection was not established in time. Nothing was sent.
  case connectTimeout
  /// The TLS handshake failed, or the server did not prove its identity. Nothing was sent.
  case insecure
  /// The response did not arrive in time.
  case responseTimeout
  /// The connection ended before the response was complete.
  case reset
  /// The response is not valid HTTP, uses an unsupported content coding, or exceeds a limit. The text is for the
  /// operator and quotes nothing of the response.
  case malformed(String)
  /// The request cannot be encoded without changing its meaning. Nothing was sent.
  case unsendable
  /// This process has no memory for a buffer.
  case outOfMemory(afterSending: Bool)
  /// The client has gone, so the response is not needed.
  case clientGone(afterSending: Bool)

  /// True if the upstream certainly did not receive the request.
  public var nothingWasSent: Bool {
    switch self {
    case .unreachable, .poolExhausted, .connectTimeout, .insecure, .unsendable, .outOfMemory(afterSending: false),
      .clientGone(afterSending: false):
      true
    case .responseTimeout, .reset, .malformed, .outOfMemory(afterSending: true), .clientGone(afterSending: true): false
    }
  }

  /// The status code for the client (RFC 9110, sections 15.6.3 to 15.6.5).
  public var status: Int {
    switch self {
    case .unreachable, .poolExhausted, .outOfMemory: 503
    case .connectTimeout, .responseTimeout: 504
    case .reset, .malformed, .insecure, .unsendable, .clientGone: 502
    }
  }
}
