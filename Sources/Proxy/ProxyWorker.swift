import HTTP
import HTTP1
public import Reactor
public import TLS

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
  /// Announces `Connection: close` on every response: the worker will drain soon.
  public var isWindingDown = false
  let handshakes: HandshakeGate
  private var dateSecond = 0
  private var date = ""

  public init(
    poller: Poller, resolver: Resolver, settings: ProxySettings, handler: any Handler, metrics: any ProxyMetrics
  ) {
    self.poller = poller
    self.settings = settings
    self.handler = handler
    self.metrics = metrics
    handshakes = HandshakeGate(poller)
    pool = UpstreamPool(poller, resolver: resolver, settings: settings, handshakes: handshakes, metrics: metrics)
  }

  /// Takes new settings and a new handler for all requests that begin from now on.
  public func adopt(_ settings: ProxySettings, _ handler: any Handler) {
    let old = self.settings.configuration.upstreamTLS
    self.settings = settings
    self.handler = handler
    pool.settings = settings
    // Connections that were made under the old authorities are not for requests that rely on the new ones.
    if old !== settings.configuration.upstreamTLS { pool.closeIdle() }
  }

  /// Serves a connection that the listener with this position accepted.
  public func serve(_ socket: Socket, peer: Address, listener: Int = 0) {
    let listeners = settings.configuration.listeners
    if listener < listeners.count, let server = listeners[listener] {
      poller.start(SecureAccept(socket, peer: peer, server, self))
    } else {
      poller.start(ServerConnection(socket, peer: peer, self))
    }
  }

  var currentDate: String {
    let second = Clock.realSeconds()
    if second != dateSecond {
      dateSecond = second
      date = HTTPDate.format(second)
    }
    return date
  }
}

/// What a proxy counts. One per worker, called on the hot path.
public protocol ProxyMetrics: AnyObject {
  /// A request was answered. `nanoseconds` from its head to the response's last byte.
  func requestFinished(_ handling: RequestHandling, status: Int, nanoseconds: UInt64)
  func upstreamFailed(_ failure: UpstreamFailure)
  /// A client's TLS handshake ended.
  func handshakeFinished(_ outcome: HandshakeOutcome)
  /// The upstream and the gateway found no TLS connection.
  func upstreamHandshakeFailed(_ failure: TLSFailure)
  func connectionOpened()
  func connectionClosed()
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
  /// Malformed, too slow, too large.
  case refused
}
