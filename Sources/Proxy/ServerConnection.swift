import AccessLog
import HTTP
import HTTP1
import HTTP2
import Reactor
import TLS
import Telemetry
import Time

/// One client connection, from its first byte to its close.
///
/// While a request is in progress or the next request is expected soon, the connection has a task. After that, a
/// `ParkedConnection` replaces this object and holds the socket, the state and a deadline, but no task and no buffer.
/// The next readable event creates a `ServerConnection` again.
final class ServerConnection: Activity {
  /// The state of the connection.
  enum Stage {
    /// The task has not started yet. It will first call `admit`, which reads the PROXY header, checks the limits and
    /// performs the TLS handshake.
    case accepted(speaksProxyProtocol: Bool)
    /// The first bytes will show whether the client uses HTTP/2.
    case undecided
    case http1
    /// An `HTTP2Connection` uses the socket. This object keeps the client's identity and the received bytes for it.
    case http2
    /// This object serves streams of an HTTP/2 connection, one after the other (`stream`).
    case http2Stream
    /// A `ParkedConnection` has replaced this object.
    case parked
  }

  /// The address to which the limits per address apply.
  enum AddressLimit {
    /// Not determined yet.
    case unknown
    /// The address of the client (`ConnectionLimits.key`).
    case limited(UInt64)
    case unlimited
  }

  let socket: Socket
  /// The socket of the connection; for a stream, the socket of its HTTP/2 connection.
  private let carrier: Socket
  let worker: ProxyWorker
  /// The transport of the HTTP/2 streams that this object serves; `nil` if it serves a connection. The head of a passing
  /// response is written to the stream directly, not in the form of HTTP/1.1.
  let stream: HTTP2StreamTransport?
  private(set) var identity: ClientIdentity
  /// The client that `identity` describes: the socket's peer, or the client named by a trusted proxy.
  private(set) var peer: Address
  /// The address of the socket's peer: the client, or the proxy through which the client connects.
  let socketPeer: Address
  /// The client named in the header of the PROXY protocol, if any.
  var proxiedClient: ProxyHeader.Client?
  /// The value that `limitedAddress` computes once for a client.
  var addressLimit = AddressLimit.unknown
  /// The settings from which `identity` was derived.
  private var identitySettings: CompiledProxyConfiguration
  /// The listener's TLS; `nil` if this object performs no handshake, because it serves plaintext, streams or a
  /// connection that was parked.
  let tls: TLSServer?
  let admission: Admission
  var stage: Stage
  /// Not `nil` while an error response is sent to a refused client.
  var refusalPermit: RefusalPermit?
  /// The number of body bytes that are held for the request in progress.
  var charged = 0
  var state = ConnectionState()
  /// The deadline for the next request, whether the connection is parked or not; `.never` during a request.
  var idleDeadline = Deadline.never
  /// The states of the client's socket that cancel the current request while it has no response.
  private(set) var abandonment: Readiness = .broken
  /// Received bytes that are not yet consumed; without a block while empty.
  let input = Buffer()
  // Cached to avoid a retain and release per use.
  let buffers: BufferPool
  /// The worker's index of the fields of a request head.
  let requestFields: HeadIndex
  /// True if `input` has held an intercepted request. Then `releaseInput` wipes the block.
  var holdsSecrets = false
  /// The index of the listener that accepted the connection.
  let listener: UInt16
  /// The facts for the line of the current request in the access log; `nil` until a request has one.
  var accessEntry: AccessEntry?
  /// The number of bytes of `accessEntry` that are charged to `buffers`.
  var entryCharge = 0
  /// The intercepted request that the handler answers; `nil` for other requests.
  var interceptedRequest: Request?
  /// The number of bytes that `receive` has put into `input` since the connection began or resumed.
  var received = 0
  /// The number of pipelined requests after which the task lets others run.
  private static let yieldAfter = 16
  let waiter: Waiter
  var exchange: Exchange?
  /// The facts from which the id of the current or last request follows.
  private(set) var reference = RequestReference()
  /// The number that the worker has given to the current or last request.
  var requestNumber: UInt64 { reference.number }

  init(
    _ socket: Socket, peer: Address, listener: Int, tls: TLSServer?, speaksProxyProtocol: Bool, _ worker: ProxyWorker
  ) {
    self.socket = socket
    self.listener = UInt16(clamping: listener)
    carrier = socket
    stream = nil
    self.worker = worker
    buffers = worker.poller.buffers
    requestFields = worker.requestFields
    self.peer = peer
    socketPeer = peer
    self.tls = tls
    identitySettings = worker.settings
    identity = worker.identities.identity(
      of: peer, trusts: worker.settings.configuration.trusts, isSecure: false, isFromProxyProtocol: false)
    admission = Admission(worker.connections, totalLimit: worker.settings.configuration.limits.connections)
    waiter = Waiter(worker.poller)
    stage = .accepted(speaksProxyProtocol: speaksProxyProtocol)
    worker.metrics.connectionOpened()
  }

  /// Continues a parked connection.
  init(_ parked: ParkedConnection) {
    socket = parked.socket
    carrier = parked.socket
    stream = nil
    worker = parked.worker
    buffers = worker.poller.buffers
    requestFields = worker.requestFields
    socketPeer = parked.socketPeer
    listener = parked.listener
    // The TLS handshake was done before the connection parked.
    tls = nil
    identitySettings = parked.worker.settings
    let isFromProxyProtocol = parked.proxiedClient != nil && identitySettings.configuration.trusts(parked.socketPeer)
    proxiedClient = isFromProxyProtocol ? parked.proxiedClient : nil
    peer = proxiedClient?.address ?? socketPeer
    identity = ServerConnection.identity(of: peer, proxiedClient, parked.socket, parked.worker)
    admission = parked.admission
    state = parked.state
    idleDeadline = parked.idleDeadline
    waiter = Waiter(parked.worker.poller)
    stage = .http1
  }

  /// Creates an object that serves streams of the HTTP/2 connection `connection`, one after the other, over `stream`.
  /// Each stream is served like a connection with one request.
  init(_ stream: HTTP2StreamTransport, of connection: ServerConnection) {
    socket = Socket(connection.poller, stream)
    self.stream = stream
    carrier = connection.socket
    listener = connection.listener
    worker = connection.worker
    buffers = worker.poller.buffers
    requestFields = worker.requestFields
    identity = connection.identity.overHTTP2
    peer = connection.peer
    socketPeer = connection.socketPeer
    proxiedClient = connection.proxiedClient
    identitySettings = connection.identitySettings
    tls = nil
    admission = connection.admission
    waiter = Waiter(worker.poller)
    stage = .http2Stream
  }

  /// Prepares the object for another stream of `connection`: resets the state of the previous stream.
  func beginStream(of connection: ServerConnection) {
    connection.followSettings()
    if identitySettings !== connection.identitySettings {
      identity = connection.identity.overHTTP2
      peer = connection.peer
      addressLimit = .unknown
      proxiedClient = connection.proxiedClient
      identitySettings = connection.identitySettings
    }
    state = ConnectionState()
  }

  /// Releases the exchange and cancels the deadline after the last stream.
  func releaseAfterLastStream() {
    exchange = nil
    waiter.cancelDeadline()
  }

  /// Adopts the client named by a trusted proxy.
  func adoptProxiedClient(_ client: ProxyHeader.Client) {
    proxiedClient = client
    peer = client.address
    updateIdentity()
  }

  /// Derives the identity again if a reload has replaced the settings.
  private func followSettings() {
    if settings !== identitySettings { updateIdentity() }
  }

  /// Derives the identity again, because the client or the TLS layer has become known, or because a reload may have
  /// changed the trusted proxies.
  func updateIdentity() {
    identitySettings = settings
    addressLimit = .unknown
    if proxiedClient != nil, !settings.configuration.trusts(socketPeer) {
      proxiedClient = nil
      peer = socketPeer
    }
    identity = ServerConnection.identity(of: peer, proxiedClient, carrier, worker)
    if case .http2Stream = stage { identity = identity.overHTTP2 }
  }

  private static func identity(
    of peer: Address, _ proxiedClient: ProxyHeader.Client?, _ carrier: Socket, _ worker: ProxyWorker
  ) -> ClientIdentity {
    let isSecure = carrier.layer != nil || proxiedClient?.isSecure ?? false
    return worker.identities.identity(
      of: peer, trusts: worker.settings.configuration.trusts, isSecure: isSecure,
      isFromProxyProtocol: proxiedClient != nil)
  }

  deinit {
    switch stage {
    case .accepted, .undecided, .http1, .http2: worker.metrics.connectionClosed()
    case .http2Stream, .parked: break
    }
  }

  var poller: Poller { worker.poller }
  var settings: CompiledProxyConfiguration { worker.settings }
  /// The version of TLS between the client and the gateway; `nil` without TLS.
  var tlsVersion: String? { carrier.layer?.version }
  /// The `Strict-Transport-Security` line for responses over TLS, which replaces the upstream's; otherwise empty.
  var strictTransport: [UInt8] { addsStrictTransport ? settings.strictTransportLine : [] }
  /// True if `strictTransport` is not empty.
  var addsStrictTransport: Bool { carrier.layer != nil && !settings.strictTransportLine.isEmpty }

  func run() async {
    if case .accepted(let speaksProxyProtocol) = stage {
      // Over TLS, ALPN (RFC 7301) chooses the protocol.
      stage = tls == nil && settings.configuration.http2 != nil ? .undecided : .http1
      switch await admit(speaksProxyProtocol: speaksProxyProtocol) {
      case .admitted where socket.layer?.applicationProtocol == "h2": return handOver()
      case .admitted: break
      case .refused(let failure): return await refuse(failure)
      case .closed: return close()
      }
    }
    while true {
      // The streams of a connection often begin together.
      if case .http2Stream = stage { await yieldInLongTurn() }
      let outcome = if let head = headOfStream() { HeadOutcome.head(head) } else { await nextHead() }
      switch outcome {
      case .head(let head):
        let began = poller.turnBegan
        var route = route(head, began)
        if case .inspect(let limit) = route { route = await inspect(head, limit: limit) }
        switch route {
        case .pass, .inspect: await currentExchange().forward(head, began: began)
        case .answer(let response):
          input.consume(head.length)
          await answer(response, to: head.method, minorVersion: head.minorVersion, began: began, .routeResponse)
        case .refuse(let response):
          input.consume(head.length)
          await answer(response, to: head.method, minorVersion: head.minorVersion, began: began, .refused)
        case .overLimit(let limit):
          let response = failure(.overloaded(limit), ofUnchanged: head, limit: limit)
          input.consume(head.length)
          await answer(response, to: head.method, minorVersion: head.minorVersion, began: began, .refused)
        case .intercept(let bodyLimit, let tag):
          await intercept(head, bodyLimit: bodyLimit, routeTag: tag, began: began)
        }
        if let accessEntry { end(accessEntry) }
        poller.endRequest()
        if state.next != .readHead {
          await finish()
          return
        }
        // A stream carries only one request.
        if case .http2Stream = stage { return close() }
        // The task may answer without a wait, so a client that pipelines requests could block the worker.
        if !input.isEmpty {
          if state.requestCount % ServerConnection.yieldAfter == 0 {
            await waiter.yield()
          } else {
            await yieldInLongTurn()
          }
        }
      case .refused(let failure): return await refuse(failure)
      case .http2: return handOver()
      case .parked: return
      case .closed:
        close()
        return
      }
    }
  }

  /// Lets the jobs of other connections run first, if this turn has already taken long. Called in front of work whose
  /// cost a client can choose: the reading of a target or a form.
  func yieldInLongTurn() async {
    if poller.isTurnLong { await waiter.yieldShare() }
  }

  /// Passes the socket and the received bytes to an `HTTP2Connection`.
  private func handOver() {
    stage = .http2
    waiter.cancelDeadline()
    worker.serveHTTP2(self)
  }

  /// Decides the handling of the request whose head is at the front of the input.
  private func route(_ head: RequestHead, _ began: MonotonicInstant) -> Route {
    state.receivedHead(hasBody: head.body != .none, keepsAlive: head.keepsAlive)
    if worker.drainsSoon || poller.isDraining { state.refuseFurtherRequests() }
    if state.requestCount >= settings.configuration.limits.requestsPerConnection, head.keepsAlive {
      worker.metrics.recordLimit(.requestsPerConnection)
      state.refuseFurtherRequests()
    }
    followSettings()
    let number = worker.nextRequestNumber()
    let cancels = settings.configuration.cancelsHalfClosed && head.method.isSafe
    abandonment = cancels ? [.broken, .readClosed] : .broken
    let fields = requestFields
    return input.withSpan { bytes -> Route in
      let client = identity.facts(bytes, fields, requestNumber: number)
      reference = client.reference
      poller.beginRequest(number, proxyID: reference.proxyID)
      if fields.has(.via), RequestRewriter.isLoop(bytes, fields, settings) {
        if let log = worker.accessLog { begin(log, head, bytes, fields, client, began, isEndpoint: true) }
        return .refuse(failure(.loop, head, bytes, fields))
      }
      let route = worker.handler.route(head, bytes, fields, client: client)
      if let log = worker.accessLog {
        begin(log, head, bytes, fields, client, began, isEndpoint: !route.mayPass)
      }
      if case .pass = route, fields.has(.contentType), GRPC.isCall(bytes, fields) {
        worker.metrics.grpcRefused()
        if identity.isHTTP2 { return .answer(GRPC.unimplemented) }
        return .answer(failure(.request(GRPC.refusal), head, bytes, fields))
      }
      return route
    }
  }

  /// Gives a number to a request whose head cannot be read, or to a connection that is refused before its first request.
  func beginUnreadRequest() {
    reference = RequestReference(number: worker.nextRequestNumber())
    poller.beginRequest(requestNumber, proxyID: nil)
  }

  /// True if the client has disconnected. Also true if the client has ended its sending side, if this end cancels the
  /// current request (`cancelsHalfClosed`). Callers check this only until the response begins.
  var isAbandoned: Bool { !socket.readiness.isDisjoint(with: abandonment) }

  /// Returns the exchange object of the connection. Creates it at the first use.
  func currentExchange() -> Exchange {
    if let exchange { return exchange }
    let made = Exchange(self)
    exchange = made
    return made
  }

  // MARK: The end

  func close() {
    release()
    socket.close()
  }

  /// Releases the buffers. Unless this object serves further streams, also drops the exchange and cancels the deadline.
  func release() {
    exchange?.release()
    releaseEntryCharge()
    input.clear()
    releaseInput()
    if case .http2Stream = stage {
      if refusalPermit != nil { refusalPermit = nil }
    } else {
      exchange = nil
      waiter.cancelDeadline()
    }
  }
}
