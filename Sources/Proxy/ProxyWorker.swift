import HTTP
import HTTP1
public import Reactor
public import TLS
public import Telemetry

/// The proxy of one worker: what all of its connections share.
public final class ProxyWorker {
  public let poller: Poller
  public let pool: UpstreamPool
  public let metrics: any ProxyMetrics
  /// Exchanged by a reload, between two requests.
  public private(set) var settings: ProxySettings
  public private(set) var handler: any Handler
  /// Heads are parsed and rewritten without a wait in between, so one index of each kind serves all connections.
  let requestFields = HeadIndex()
  let responseFields = HeadIndex()
  /// For the responses of HTTP/2 streams: they are read while those of the upstream may be in use.
  let streamFields = HeadIndex()
  let identities = IdentityCache()
  private var http2Connections: [ObjectIdentifier: HTTP2Connection] = [:]
  /// Announces `Connection: close` on every response, or GOAWAY: the worker will drain soon.
  public var isWindingDown = false {
    didSet {
      for connection in http2Connections.values { connection.wake() }
    }
  }
  private(set) lazy var memoryWatch = MemoryWatch(self)
  let handshakes: HandshakeGate
  /// Counts a client that sent too many KeyUpdates. One for all connections, so that none costs an allocation.
  let keyUpdateFlood: () -> Void
  /// Shared by all workers.
  let connections: ConnectionLimits
  /// Refused clients that are getting the reason.
  private var refusals = 0
  /// So many at once: each takes a buffer for as long as its answer and the drain of its request take.
  private static let refusalLimit = 64
  private var requestNumber: UInt64 = 0
  private var dateSecond = -1
  private var date: [UInt8] = []

  /// - Parameter connections: what all workers of a server count their connections with.
  public init(
    poller: Poller, resolver: Resolver, settings: ProxySettings, handler: any Handler, metrics: any ProxyMetrics,
    connections: ConnectionLimits = ConnectionLimits()
  ) {
    self.poller = poller
    self.settings = settings
    self.handler = handler
    self.metrics = metrics
    self.connections = connections
    handshakes = HandshakeGate(poller)
    keyUpdateFlood = { metrics.limited(.keyUpdates) }
    pool = UpstreamPool(poller, resolver: resolver, settings: settings, handshakes: handshakes, metrics: metrics)
    poller.buffers.limit = settings.configuration.limits.bufferMemory
  }

  /// Returns the number of the next request of this worker, from 1 on.
  func nextRequestNumber() -> UInt64 {
    requestNumber &+= 1
    return requestNumber
  }

  /// Takes new settings and a new handler for all requests that begin from now on.
  public func adopt(_ settings: ProxySettings, _ handler: any Handler) {
    let old = self.settings.configuration.upstreamTLS
    self.settings = settings
    self.handler = handler
    pool.settings = settings
    poller.buffers.limit = settings.configuration.limits.bufferMemory
    // Connections that were made under the old authorities are not for requests that rely on the new ones.
    if old !== settings.configuration.upstreamTLS { pool.renew() }
  }

  /// Serves a connection that was accepted.
  ///
  /// - Parameters:
  ///   - listener: the position of the listener that accepted it.
  ///   - speaksProxyProtocol: whether the listener wants the PROXY protocol before anything else.
  public func serve(_ socket: Socket, peer: Address, listener: Int = 0, speaksProxyProtocol: Bool = false) {
    let listeners = settings.configuration.listeners
    let tls = listener < listeners.count ? listeners[listener] : nil
    poller.start(ServerConnection(socket, peer: peer, tls: tls, speaksProxyProtocol: speaksProxyProtocol, self))
  }

  /// Takes a place among the refused clients that get the reason; `nil` if all places are taken.
  func beginRefusal() -> RefusalPlace? {
    guard refusals < ProxyWorker.refusalLimit else { return nil }
    refusals += 1
    return RefusalPlace(self)
  }

  /// Frees the place of a `RefusalPlace`.
  fileprivate func endRefusal() {
    refusals -= 1
  }

  /// Serves HTTP/2 on a connection whose client speaks it. The bytes that it has sent so far are in the connection's input.
  func serveHTTP2(_ base: ServerConnection) {
    let connection = HTTP2Connection(base)
    http2Connections[ObjectIdentifier(connection)] = connection
    poller.start(connection)
  }

  func forEachHTTP2Connection(_ body: (HTTP2Connection) -> Void) {
    for connection in http2Connections.values { body(connection) }
  }

  func forget(_ connection: HTTP2Connection) {
    http2Connections[ObjectIdentifier(connection)] = nil
  }

  /// The response head at the front of `input`, and whose fields are in `responseFields`, as values.
  func values(of head: ResponseHead, _ input: Buffer) -> Response {
    let cookie = settings.configuration.privateCookie
    return input.withSpan { bytes in
      Response(
        status: head.status, reason: RequestReader.text(bytes, head.reason),
        headers: RequestReader.fields(bytes, responseFields, privateCookie: cookie))
    }
  }

  /// The `Date` field of a response that is made now, with its line end.
  var dateLine: [UInt8] {
    let second = Clock.realSeconds()
    if second != dateSecond {
      dateSecond = second
      date = Array("Date: \(HTTPDate.format(second))\r\n".utf8)
    }
    return date
  }
}

/// The counters of a proxy. One per worker, called on the hot path.
public protocol ProxyMetrics: AnyObject {
  /// A request was answered. `nanoseconds` from its head to the response's last byte.
  func requestFinished(_ handling: RequestHandling, status: Int, nanoseconds: UInt64)
  /// A response's head came from the upstream, so long after the request was sent; after its head came, where it passes.
  func upstreamAnswered(nanoseconds: UInt64)
  func upstreamFailed(_ failure: UpstreamFailure)
  /// A gRPC call was refused, whose trailers would be lost.
  func grpcRefused()
  /// A limit was met.
  func limited(_ limit: LimitKind)
  /// A client's TLS handshake ended.
  func handshakeFinished(_ outcome: HandshakeOutcome)
  /// The upstream and the gateway found no TLS connection.
  func upstreamHandshakeFailed(_ failure: TLSFailure)
  func connectionOpened()
  func connectionClosed()
  /// A connection that was opened turned out to speak HTTP/2.
  func http2ConnectionOpened()
  /// A request came on a stream.
  func http2StreamOpened()
  /// A connection to the upstream is established.
  func upstreamConnectionOpened()
  func upstreamConnectionClosed()
  /// A listener accepts nothing for now: descriptors or memory have run out.
  func acceptingPaused()
  /// It accepts again, or was closed.
  func acceptingResumed()
}

/// How a client's TLS handshake ended.
public enum HandshakeOutcome: Sendable {
  case full
  /// With the session of an earlier connection.
  case resumed
  case failed
}

/// How a request was handled.
public enum RequestHandling: Sendable {
  case passed
  case intercepted
  case answered
  /// Malformed, too slow, too large, or against a rule.
  case refused
}

/// A place among the refused clients that get the reason. It is free again when this ends.
final class RefusalPlace {
  private let worker: ProxyWorker

  fileprivate init(_ worker: ProxyWorker) {
    self.worker = worker
  }

  deinit { worker.endRefusal() }
}
