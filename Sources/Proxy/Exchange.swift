import HTTP
import HTTP1
import Reactor
import Telemetry

/// One request forwarded and its response brought back, both streamed with bounded memory.
///
/// Theory of operation. Two pumps, up and down, move what they can without blocking. When neither can, one wait covers
/// both sockets, with an interest that says exactly what would help: so an answer that comes before the request has
/// ended stops the upload, and a client that goes away cancels the request. Until the first byte of a response has been
/// received, a safe or idempotent request without a body can be sent again on another connection: its head, as it was
/// written, stays in the send buffer's block, and is never made a second time.
final class Exchange {
  enum Failure: Error {
    case client
    case clientTimeout
    /// The client takes or gives too little for the time that it takes.
    case tooSlow
    /// The request as a whole takes too long.
    case tooLong
    case request(MessageError)
    case upstream(UpstreamFailure)
    /// The reused connection was closed before it answered anything.
    case stale
    /// The response has a location that must not reach the browser.
    case withheld(Response)
  }

  let server: ServerConnection
  let worker: ProxyWorker
  let poller: Poller
  // What each request uses of these: a constant of one's own is used without counting a reference.
  let buffers: BufferPool
  let fromClient: Buffer
  let requestFields: HeadIndex
  let responseFields: HeadIndex
  var upload = BodyPump(.none, as: .plain)
  var uploadEnded = false
  var download: BodyPump?
  /// Kept from one exchange to the next, so that a busy connection does not take and give back for each.
  let toUpstream: Buffer
  let toClient: Buffer
  /// True if the head of a request without a body is still at the front of the receive buffer.
  var keepsHead = false
  /// True if the request may be sent again: it is idempotent, has no body, and has no response yet.
  var mayRepeat = false
  /// True if the request asked the upstream to close its connection.
  var asksForClose = false
  var carriesCookie = false
  /// The parts of a request with a body that are kept after their bytes have gone upstream.
  var held = HeldRequest()
  var status = 0
  var upstreamKeepsAlive = false
  var isTunnel = false
  var began: UInt64 = 0
  var responseDeadline: Deadline?
  /// Bytes moved since the last yield; a turn without many bytes counts as `turnCost`.
  var moved = 0
  var pace = Pace()
  /// Bytes of the body from the client.
  var uploaded = 0
  var requestDeadline = Deadline.never
  var stall = Stall()
  var uploadStopped = false
  var reader = ResponseHeadReader()

  static let yieldAfter = 64 * 1024
  /// Bytes that a turn of a loop counts for at least. A loop ends its share after 128 turns, whatever its system calls
  /// return: no exchange can keep its worker.
  static let turnCost = 512

  init(_ server: ServerConnection) {
    self.server = server
    worker = server.worker
    poller = server.poller
    buffers = server.poller.buffers
    fromClient = server.input
    requestFields = server.worker.requestFields
    responseFields = server.worker.responseFields
    toUpstream = Buffer()
    toClient = Buffer()
  }

  /// Gives the buffers' blocks back: the connection parks or ends, or the stream does. The next exchange takes them again.
  func release() {
    buffers.giveBack(toUpstream)
    buffers.giveBack(toClient)
  }

  /// Makes it ready for the next exchange of its connection: one serves them all, so that none costs an allocation.
  private func reset(_ began: UInt64) {
    buffers.fill(toUpstream)
    buffers.fill(toClient)
    self.began = began
    upload = BodyPump(.none, as: .plain)
    uploadEnded = false
    uploadStopped = false
    download = nil
    keepsHead = false
    mayRepeat = false
    asksForClose = false
    carriesCookie = false
    status = 0
    upstreamKeepsAlive = false
    isTunnel = false
    responseDeadline = nil
    moved = 0
    pace = Pace()
    stall = Stall()
    uploaded = 0
    requestDeadline = poller.deadline(after: worker.settings.configuration.limits.requestTimeout)
  }

  // MARK: Entry points

  /// Forwards the request whose head is at the front of the connection's input.
  func forward(_ head: RequestHead, began: UInt64) async {
    reset(began)
    rewrite(head)
    keepsHead = head.body == .none
    if !keepsHead {
      hold(head)
      fromClient.consume(head.length)
    }
    mayRepeat = head.method.isIdempotent && head.body == .none
    var body = head.body
    if body == .chunked {
      do throws(Failure) {
        body = try await settledFraming(head)
      } catch {
        await fail(error, head)
        return clear()
      }
    }
    RequestRewriter.writeEnd(head.method, body, to: toUpstream)
    asksForClose = body != .none && !head.method.definesContent
    upload = BodyPump(head.body, as: body == .chunked ? .chunked : .plain)
    let headCount = toUpstream.count
    var mayReuse = true
    while true {
      do throws(Failure) {
        if server.isAbandoned { throw .client }
        if let upstream = idleConnection(mayReuse) {
          try await transfer(upstream, head)
        } else {
          try await transfer(connect(mayReuse), head)
        }
        break
      } catch {
        if case .stale = error {
          mayReuse = false
          // The first attempt may have sent everything, or given up on sending.
          toUpstream.rewind(to: headCount)
          uploadEnded = false
          uploadStopped = false
          responseDeadline = nil
          continue
        }
        if case .withheld(let response) = error {
          await answer(withheld: response, head)
        } else {
          await fail(error, head)
        }
        break
      }
    }
    clear()
  }

  /// Streams the body of an answer that a handler has seen, behind the handler's head.
  func relay(_ answer: UpstreamResponse, _ response: Response, to head: RequestHead, began: UInt64) async {
    reset(began)
    uploadEnded = true
    uploadStopped = !answer.hasWholeRequest
    let upstream = answer.take()
    do throws(Failure) {
      try begin(response, answer.parsed, head, of: upstream)
      await server.waiter.gather()
      try await transfer(upstream, head)
    } catch {
      await fail(error, head)
    }
    clear()
  }

  private func idleConnection(_ mayReuse: Bool) -> UpstreamConnection? {
    mayReuse ? worker.pool.takeIdle(isIdempotent: mayRepeat, isReserved: false) : nil
  }

  private func connect(_ mayReuse: Bool) async throws(Failure) -> UpstreamConnection {
    do throws(UpstreamFailure) {
      return try await worker.pool.take(mayReuse: mayReuse, isIdempotent: mayRepeat, for: server)
    } catch {
      if case .clientGone = error { throw .client }
      throw .upstream(error)
    }
  }

  /// Writes the head for the upstream, but for its end. `requestFields` is that of this request: nothing was awaited since
  /// it was parsed.
  private func rewrite(_ head: RequestHead) {
    let settings = worker.settings
    fromClient.withSpan { bytes in
      let written = RequestRewriter.write(head, bytes, requestFields, server.identity, settings, to: toUpstream)
      carriesCookie = written.carriesCookie
      if written.dropsFields { server.reportDroppedFields(bytes) }
      if RequestRewriter.allowedUpgrade(head, bytes, settings) != nil { isTunnel = true }
    }
  }

  // MARK: Transfer

  private func transfer(_ upstream: UpstreamConnection, _ head: RequestHead) async throws(Failure) {
    do throws(Failure) {
      reader = ResponseHeadReader()
      if head.expectsContinue, !uploadEnded, fromClient.isEmpty { server.sendContinue() }
      while true {
        if !server.socket.readiness.isDisjoint(with: endOfClient) { throw .client }
        if !uploadEnded { try stepUpload(upstream) }
        if try stepDownload(upstream, head) { break }
        if startsTunnel { continue }
        if moved >= Exchange.yieldAfter {
          moved = 0
          await server.waiter.giveWay()
          // No wait has looked at the deadline if bytes always moved.
          if !isTunnel, requestDeadline.hasPassed(at: poller.now) { throw .tooLong }
          continue
        }
        server.socket.push()
        let interest = interest()
        let wake = await server.waiter.wait(
          server.socket, interest.ofClient, upstream.socket, interest.ofUpstream, until: interest.end)
        // A wait that returns at once is a turn too.
        moved += Exchange.turnCost
        if wake == .timedOut, isQuietTunnel {
          worker.metrics.limited(.bodyTimeout)
          break
        }
        if interest.isPaced || wake == .timedOut { try judge(wake, interest) }
      }
    } catch {
      let isStale = upstream.isReused && mayRepeat && upstream.input.isEmpty
      worker.pool.retire(upstream)
      if case .upstream(.reset) = error, isStale { throw .stale }
      throw error
    }
    server.socket.push()
    server.state.finishedResponse()
    worker.metrics.requestFinished(
      .passed, status: status, nanoseconds: Clock.monotonicNanoseconds() - began)
    if upstreamKeepsAlive, uploadEnded { worker.pool.giveBack(upstream) } else { worker.pool.retire(upstream) }
  }

  /// The states of the client's socket that end the exchange: once the response has begun, only that nothing can be sent any more.
  var endOfClient: Readiness { download == nil ? server.abandonment : .broken }

  /// A tunnel in which nothing is on its way: it can end in order, since nothing would be cut off.
  private var isQuietTunnel: Bool {
    isTunnel && toClient.isEmpty && toUpstream.isEmpty && upload.direct == 0 && download?.direct == 0
  }

  /// True if a tunnel has begun with bytes that the client sent behind its request: no event will tell of them.
  private var startsTunnel: Bool {
    isTunnel && !uploadEnded && download != nil && upload.direct == 0 && toUpstream.isEmpty
      && !fromClient.isEmpty
  }

  func clear() {
    toUpstream.clear()
    toClient.clear()
    held.clear(buffers)
  }
}
