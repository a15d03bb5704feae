import HTTP
import HTTP1
public import Reactor

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
  private var dateSecond = 0
  private var date = ""

  public init(
    poller: Poller, resolver: Resolver, settings: ProxySettings, handler: any Handler, metrics: any ProxyMetrics
  ) {
    self.poller = poller
    self.settings = settings
    self.handler = handler
    self.metrics = metrics
    pool = UpstreamPool(poller, resolver: resolver, settings: settings)
  }

  /// Takes new settings and a new handler for all requests that begin from now on.
  public func adopt(_ settings: ProxySettings, _ handler: any Handler) {
    self.settings = settings
    self.handler = handler
    pool.settings = settings
  }

  /// Serves a connection that was accepted.
  public func serve(_ socket: Socket, peer: Address) {
    poller.start(ServerConnection(socket, peer: peer, self))
  }

  /// The response head that stands at the front of `input`, and whose fields are in `responseFields`, as values.
  func values(of head: ResponseHead, _ input: Buffer) -> Response {
    let cookie = settings.configuration.privateCookie
    let headers = input.withSpan { RequestReader.fields($0, responseFields, privateCookie: cookie) }
    return Response(status: head.status, headers: headers)
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
  func connectionOpened()
  func connectionClosed()
}

/// How a request was handled.
public enum RequestHandling: Sendable {
  case passed
  case intercepted
  case answered
  /// Malformed, too slow, too large.
  case refused
}
