public import AccessLog
import HTTP
import HTTP1
public import Reactor
public import TLS
public import Telemetry
import Time

/// The proxy of one worker: the objects that all of its connections share.
public final class ProxyWorker {
  /// The I/O state of the worker.
  public let poller: Poller
  /// The upstream connections of the worker.
  public let pool: UpstreamPool
  /// The counters of the worker.
  public let metrics: any ProxyMetrics
  /// The current settings, replaced by a reload between two requests.
  public private(set) var settings: CompiledProxyConfiguration
  /// The current handler, replaced together with the settings.
  public private(set) var handler: any RequestHandler
  /// The access log of the worker; `nil` while it is off. Replaced together with the settings.
  private(set) var accessLog: AccessChannel?
  /// The fields of the request head and of the response head that are being processed. One index of each kind serves
  /// all connections, because a head is parsed and rewritten without a wait in between.
  let requestFields = HeadIndex()
  let responseFields = HeadIndex()
  /// The fields of a head that is parsed and processed within one call: the gateway's own response on an HTTP/2 stream,
  /// which is parsed again while `responseFields` may be in use.
  let scratchHeadIndex = HeadIndex()
  let identities = IdentityCache()
  private var http2Connections: [ObjectIdentifier: HTTP2Connection] = [:]
  /// True if the worker will drain soon (`Poller.isDraining`). It still accepts connections, but every HTTP/1.1
  /// response announces `Connection: close`, and every HTTP/2 connection sends GOAWAY.
  public var drainsSoon = false {
    didSet {
      for connection in http2Connections.values { connection.wake() }
    }
  }
  var waitingBodies = WaitingBodies()
  /// True if this worker performs the active checks of the upstream's addresses.
  private let checksHealth: Bool
  private var healthChecks: HealthChecks?
  private lazy var memoryWatch = MemoryWatch(self)
  /// Limits the TLS handshake steps of clients and of upstream connections in one turn of the loop.
  let handshakes: HandshakeGate
  /// Counts a client that has sent too many KeyUpdate messages (TLS 1.3). One closure for all connections, to avoid an
  /// allocation for each.
  let keyUpdateFlood: () -> Void
  /// The connection counts, shared by all workers.
  let connections: ConnectionLimits
  /// The number of refused connections to which an error response is being sent.
  private var refusals = 0
  /// The maximum of `refusals`. Each refusal uses a buffer until the response is sent and the rest of the client's
  /// input is discarded.
  private static let refusalLimit = 64
  private var requestNumber: UInt64 = 0
  private var dateSecond: UnixTime = -1
  private var date: [UInt8] = []

  /// Creates the proxy of the worker that owns `poller`.
  ///
  /// - Parameters:
  ///   - upstream: the servers, shared by all workers of a process.
  ///   - connections: the counts shared by all workers of a server.
  ///   - permits: the places for upstream connections, shared by all workers of a process; `nil` if this worker has
  ///     places of its own.
  ///   - worker: the worker that keeps this object; needed with `permits`.
  ///   - accessLog: the access log of the worker; `nil` for none.
  ///   - checksHealth: true for the one worker of a process that performs the active checks of the addresses.
  public init(
    poller: Poller, upstream: UpstreamServers, settings: CompiledProxyConfiguration, handler: any RequestHandler,
    metrics: any ProxyMetrics, connections: ConnectionLimits = ConnectionLimits(), permits: UpstreamPermits? = nil,
    on worker: Worker? = nil, accessLog: AccessChannel? = nil, checksHealth: Bool = false
  ) {
    self.accessLog = accessLog
    self.checksHealth = checksHealth
    self.poller = poller
    self.settings = settings
    self.handler = handler
    self.metrics = metrics
    self.connections = connections
    handshakes = HandshakeGate(poller)
    keyUpdateFlood = { metrics.recordLimit(.keyUpdates) }
    let places = (permits ?? UpstreamPermits(workers: 1)).join { [weak worker] in
      worker?.post { $0.resident(ProxyWorker.self)?.pool.examinePlaces() }
    }
    pool = UpstreamPool(
      poller, servers: upstream, settings: settings, handshakes: handshakes, metrics: metrics, places: places)
    poller.buffers.limit = settings.configuration.limits.bufferMemory
    poller.buffers.shortageHandler = { metrics.recordLimit(.bufferMemory) }
    poller.identifyRequests(by: handler.requestIDs)
    followHealthCheck()
  }

  /// Creates the proxy of a worker that shares no state of the upstream, which has one location.
  public convenience init(
    poller: Poller, upstream: ServerLocation, settings: CompiledProxyConfiguration, handler: any RequestHandler,
    metrics: any ProxyMetrics, connections: ConnectionLimits = ConnectionLimits()
  ) {
    self.init(
      poller: poller, upstream: UpstreamServers([upstream]), settings: settings, handler: handler, metrics: metrics,
      connections: connections)
  }

  /// Returns the number of the next request of this worker, starting at 1.
  func nextRequestNumber() -> UInt64 {
    requestNumber &+= 1
    return requestNumber
  }

  /// Uses new settings and a new handler for all requests that begin afterwards.
  ///
  /// - Parameter accessLog: the access log of the worker from now on; `nil` for none.
  public func adopt(
    _ settings: CompiledProxyConfiguration, _ handler: any RequestHandler, accessLog: AccessChannel? = nil
  ) {
    self.accessLog = accessLog
    let old = self.settings.configuration.upstreamTLS
    self.settings = settings
    identities.removeAll()
    self.handler = handler
    poller.identifyRequests(by: handler.requestIDs)
    pool.settings = settings
    poller.buffers.limit = settings.configuration.limits.bufferMemory
    // Requests that rely on the new certificate authorities must not use connections made under the old ones.
    if old !== settings.configuration.upstreamTLS { pool.startNewEpoch() }
    followHealthCheck()
  }

  /// Begins, changes or ends the active checks as the settings ask for.
  private func followHealthCheck() {
    guard checksHealth else { return }
    guard let check = settings.configuration.healthCheck else {
      guard healthChecks != nil else { return }
      endHealthChecks()
      for address in pool.servers.addresses { address.endChecks() }
      return
    }
    if let healthChecks { healthChecks.follow(check) } else { healthChecks = HealthChecks(check, pool) }
  }

  /// Begins no further active checks.
  func endHealthChecks() {
    healthChecks?.stop()
    healthChecks = nil
  }

  /// Serves an accepted connection.
  ///
  /// - Parameters:
  ///   - listener: the index of the listener that accepted the connection.
  ///   - speaksProxyProtocol: true if the listener requires a header of the PROXY protocol first.
  public func serve(_ socket: Socket, peer: Address, listener: Int = 0, speaksProxyProtocol: Bool = false) {
    let listenerTLS = settings.configuration.listenerTLS
    let tls = listener < listenerTLS.count ? listenerTLS[listener] : nil
    poller.start(
      ServerConnection(
        socket, peer: peer, listener: listener, tls: tls, speaksProxyProtocol: speaksProxyProtocol, self))
  }

  /// Returns a permit to send an error response to a refused client; `nil` if too many permits are in use.
  func beginRefusal() -> RefusalPermit? {
    guard refusals < ProxyWorker.refusalLimit else { return nil }
    refusals += 1
    return RefusalPermit(self)
  }

  /// Takes back a `RefusalPermit`.
  fileprivate func endRefusal() {
    refusals -= 1
  }

  /// Serves HTTP/2 on `acceptedConnection`, whose input contains the bytes received so far.
  func serveHTTP2(_ acceptedConnection: ServerConnection) {
    let connection = HTTP2Connection(acceptedConnection)
    http2Connections[ObjectIdentifier(connection)] = connection
    poller.start(connection)
  }

  func forEachHTTP2Connection(_ body: (HTTP2Connection) -> Void) {
    for connection in http2Connections.values { body(connection) }
  }

  func forget(_ connection: HTTP2Connection) {
    http2Connections[ObjectIdentifier(connection)] = nil
  }

  /// True if more than half of the memory for buffers is in use, or if the system refuses memory.
  var isMemoryShort: Bool { poller.buffers.isShort || poller.buffers.bytes > poller.buffers.limit / 2 }

  /// Starts to measure the HTTP/2 connections if memory is short (`MemoryWatch`). Called for each request.
  func checkMemory() {
    if isMemoryShort { memoryWatch.checkMemory() }
  }

  /// Returns the parsed response head at the front of `input` as a `Response`; `responseFields` contains its fields.
  func response(from head: ResponseHead, _ input: Buffer) -> Response {
    let cookie = settings.configuration.handlerCookie
    return input.withSpan { bytes in
      Response(
        status: head.status, reason: RequestReader.text(bytes, head.reason),
        headers: RequestReader.fields(bytes, responseFields, handlerCookie: cookie))
    }
  }

  /// The `Date` field, with its line end, of a response that is created now.
  var dateLine: [UInt8] {
    let second = SystemClock.unixTime()
    if second != dateSecond {
      dateSecond = second
      date = Array("Date: \(HTTPDate.format(second))\r\n".utf8)
    }
    return date
  }
}

/// The counters of a proxy. One per worker, called on the hot path.
public protocol ProxyMetrics: AnyObject {
  /// A request was answered. `nanoseconds`: from its head to the last byte of the response.
  func requestFinished(_ handling: RequestHandling, status: Int, nanoseconds: UInt64)
  /// A final response head arrived from the upstream. `nanoseconds`: the time since the gateway sent its own request,
  /// or since the head of a passing request arrived from the client.
  func upstreamAnswered(nanoseconds: UInt64)
  /// There was no complete response from the upstream.
  func upstreamFailed(_ failure: UpstreamFailure)
  /// A gRPC call was refused, because its trailers would be lost.
  func grpcRefused()
  /// A limit was reached.
  func recordLimit(_ limit: LimitKind)
  /// A client's TLS handshake ended.
  func handshakeFinished(_ outcome: HandshakeOutcome)
  /// A TLS handshake with the upstream failed.
  func upstreamHandshakeFailed(_ failure: TLSFailure)
  /// A client connection was accepted.
  func connectionOpened()
  /// A client connection was closed.
  func connectionClosed()
  /// An accepted connection uses HTTP/2.
  func http2ConnectionOpened()
  /// A request arrived on an HTTP/2 stream.
  func http2StreamOpened()
  /// An upstream connection was established.
  func upstreamConnectionOpened()
  /// An upstream connection was closed.
  func upstreamConnectionClosed()
  /// Active checks have taken an address out of service, for the reason `problem`, or have returned it to service if
  /// `problem` is `nil`.
  func upstreamCheckChanged(_ address: String, problem: String?)
  /// A listener stopped accepting, because descriptors or memory have run out.
  func acceptingPaused()
  /// The listener accepts again or was closed.
  func acceptingResumed()
}

extension ProxyMetrics {
  /// Does nothing. For proxies without active checks.
  public func upstreamCheckChanged(_ address: String, problem: String?) {}
}

/// The outcome of a client's TLS handshake.
public enum HandshakeOutcome: Sendable {
  case full
  /// A handshake that resumed the session of an earlier connection.
  case resumed
  case failed
}

/// The handling of a request, as metrics count it.
public enum RequestHandling: Sendable {
  /// The gateway forwarded the request.
  case passed
  /// The handler answered the request (`RequestHandler.respond`).
  case handlerResponse
  /// The request was answered without the upstream (`Route.answer`).
  case routeResponse
  /// The request was malformed, too slow, too large, or against a rule.
  case refused
}

/// A permit to send an error response to a refused client. `deinit` returns the permit.
final class RefusalPermit {
  private let worker: ProxyWorker

  fileprivate init(_ worker: ProxyWorker) {
    self.worker = worker
  }

  deinit { worker.endRefusal() }
}
