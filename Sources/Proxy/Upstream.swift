internal import AccessLog
internal import ByteText
public import HTTP
import HTTP1
public import Reactor
public import TLS
import Telemetry
import Time

/// Sends the gateway's own requests to the upstream, for a handler that answers a request in place of the upstream.
public final class Upstream {
  private let connection: ServerConnection
  private var waiter: Waiter { connection.waiter }
  var worker: ProxyWorker { connection.worker }
  /// The poller of the worker that answers the request, for the handler's own waits.
  public var poller: Poller { connection.poller }
  /// The limit on the TLS handshakes of the worker, for the handler's own connections.
  public var handshakes: HandshakeGate { worker.handshakes }

  /// The id of the address that the requests prefer; `nil` for the choice by the configuration. Has no effect if the
  /// upstream has one address.
  public var preferredAddress: UInt16?
  /// The names of the cookies from which the address for a request follows; empty if it follows from none.
  public var affinityCookies: [String] {
    guard case .cookie(let name) = worker.settings.configuration.affinity else { return [] }
    return [name, AddressCookie(of: name).name]
  }
  /// The id of the address that sent the latest response; `nil` without one, or if the upstream has one address.
  public private(set) var answeringAddress: UInt16?

  /// - Parameter answeringAddress: the id of the address whose response was withheld, if any.
  init(_ connection: ServerConnection, answeringAddress: UInt16? = nil) {
    self.connection = connection
    self.answeringAddress = answeringAddress
  }

  /// Replaces the upstream's origins by the gateway's in the fields that redirect a browser, as in a passing response.
  ///
  /// - Returns: True if a URL had the gateway's origin with http in place of https.
  public func replaceOrigins(in headers: inout Headers) -> Bool {
    LocationRewriter.replaceOrigins(in: &headers, worker.settings.configuration)
  }

  /// Sends a request and waits for the head of the response, whose body is then collected, relayed or discarded.
  ///
  /// A GET or HEAD request is sent once more, on another connection, if a reused connection turns out to be closed.
  ///
  /// If the client goes away while the request waits for a connection, the request is not sent. If the client goes away
  /// later, the wait for the response ends only if `request` is a GET or HEAD. Any other request may have changed state
  /// at the upstream. So its response is awaited, and the gateway knows the result when the client repeats its own
  /// request.
  ///
  /// Throws `UpstreamFailure`; its `nothingWasSent` is true if the upstream certainly did not receive the request.
  public func send(_ request: OutboundRequest) async throws(UpstreamFailure) -> UpstreamResponse {
    let isIdempotent = request.method == "GET" || request.method == "HEAD"
    let head = try encode(request)
    // `nil` if the wait for the response must not end when the client goes away.
    let client = isIdempotent ? connection.socket : nil
    // Join the send batch before taking a connection, so that the connection is used as soon as it is taken.
    await waiter.joinSendBatch()
    if client != nil, connection.isAbandoned { throw .clientGone(afterSending: false) }
    var mayUseIdle = true
    while true {
      let upstream: UpstreamConnection
      do throws(UpstreamFailure) {
        upstream = try await worker.pool.take(
          mayUseIdle: mayUseIdle, mayRepeat: isIdempotent, mayUseReserved: true,
          preferring: preference(headers: request.headers, peer: request.peer),
          for: connection)
      } catch {
        recordFailure(error)
        throw error
      }
      let wasReused = upstream.isReused
      var reader = ResponseHeadReader()
      if let entry = connection.accessEntry {
        entry.upstream = upstream.name
        if !wasReused { entry.upstreamConnected(at: SystemClock.monotonicInstant()) }
      }
      do throws(UpstreamFailure) {
        let wasSentCompletely = try await send(head, request, to: upstream, client)
        return try await readHead(
          of: upstream, method: request.method == "HEAD" ? .head : .get,
          requestAllowsReuse: wasSentCompletely && !Upstream.asksForClose(request), until: request.deadline, client,
          &reader)
      } catch {
        let hasAnswer = !upstream.input.isEmpty || reader.hasReadInterim
        if error == .reset || error == .responseTimeout {
          worker.pool.noteLostRequest(upstream, isEnd: error == .reset)
        }
        worker.pool.retire(upstream)
        if error == .reset, wasReused, isIdempotent, mayUseIdle, !hasAnswer {
          mayUseIdle = false
          continue
        }
        recordFailure(error)
        throw error
      }
    }
  }

  private func recordFailure(_ failure: UpstreamFailure) {
    if case .clientGone = failure { return }
    worker.metrics.upstreamFailed(failure)
    let limit = ProxyFailure.upstream(failure).limit(at: .afterHead)
    if let limit { worker.metrics.recordLimit(limit) }
    connection.reportUpstreamFailure(failure, limit)
  }

  /// Returns the encoded head. Throws `unsendable` if it cannot be encoded safely.
  private func encode(_ request: OutboundRequest) throws(UpstreamFailure) -> [UInt8] {
    let settings = worker.settings
    var head: [UInt8] = []
    // Room for the fields of most heads, so that the array grows once.
    head.reserveCapacity(request.target.utf8.count + 1_024)
    head.append(request.method)
    head.append(0x20)
    head.append(request.target)
    head.append(" HTTP/1.1\r\n")
    let (hostLine, viaLine) = (settings.hostLine, settings.viaLineOfHTTP11)
    head.append(copying: hostLine.span)
    let headers = Upstream.withoutHandlerCookie(request.headers, settings.configuration.handlerCookie)
    guard Upstream.isVisible(request.method), Upstream.isVisible(request.target),
      ResponseEncoder.append(headers, to: &head)
    else {
      worker.metrics.upstreamFailed(.unsendable)
      throw .unsendable
    }
    head.append(copying: viaLine.span)
    ClientIdentity.append(request.peer, host: settings.configuration.authority, to: &head)
    // The framing is last, as in the head of a passing request.
    if !request.body.isEmpty || request.method == "POST" {
      head.append("Content-Length: ")
      head.append(decimal: request.body.count)
      head.append("\r\n")
    }
    if Upstream.asksForClose(request) { head.append("Connection: close\r\n") }
    head.append("\r\n")
    return head
  }

  /// True if the upstream may leave the body of the request unread. The upstream must then close the connection, so
  /// that it does not parse the body as a request that no rule has checked (as in `RequestRewriter.writeEnd`).
  private static func asksForClose(_ request: OutboundRequest) -> Bool {
    !request.body.isEmpty && !Method(request.method).serversReadContent
  }

  /// Returns the fields without the handler's own cookie, even if the handler added it.
  private static func withoutHandlerCookie(_ headers: Headers, _ name: String) -> Headers {
    guard headers.contains("Cookie") else { return headers }
    return Headers(
      headers.fields.compactMap { field in
        guard field.name.isEqualIgnoringCase(to: "cookie") else { return field }
        let value = CookieFilter.value(field.value, without: name)
        return value.isEmpty ? nil : Headers.Field(name: field.name, value: value)
      })
  }

  /// True if the text consists of visible ASCII characters, so that it cannot end the request line early. This is the
  /// last check; the caller builds the text from validated values.
  private static func isVisible(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.span.isVisible
  }

  /// Sends head and body in as few pieces as the buffer allows, because each piece costs a system call. Most requests
  /// fit into one piece.
  ///
  /// Returns false if the upstream answered, or stopped receiving, before it had the whole request. The caller then
  /// reads the response and does not reuse the connection.
  private func send(
    _ head: [UInt8], _ request: OutboundRequest, to upstream: UpstreamConnection, _ client: Socket?
  ) async throws(UpstreamFailure) -> Bool {
    let body = request.body
    guard let buffer = poller.buffers.take() else { throw .outOfMemory(afterSending: false) }
    defer { if request.isSecret { poller.buffers.wipeAndGiveBack(buffer) } else { poller.buffers.giveBack(buffer) } }
    let deadline = min(request.deadline, poller.deadline(after: worker.settings.configuration.bodyTimeout))
    var headOffset = 0
    var bodyOffset = 0
    while true {
      let next = min(buffer.room, head.count - headOffset)
      buffer.append(head, in: headOffset..<headOffset + next)
      headOffset += next
      let more = min(buffer.room, body.count - bodyOffset)
      buffer.append(body, in: bodyOffset..<bodyOffset + more)
      bodyOffset += more
      if buffer.isEmpty { return true }
      while !buffer.isEmpty {
        switch upstream.socket.send(buffer) {
        case .moved: continue
        case .wouldBlock:
          try await wait(upstream.socket, [.readable, .writable], client, until: deadline)
          if try hasAnswered(upstream) { return false }
        case .ended, .failed: return false
        }
      }
    }
  }

  /// Receives without waiting. Returns true if the upstream has begun its response; throws `reset` if it has closed the
  /// connection.
  private func hasAnswered(_ upstream: UpstreamConnection) throws(UpstreamFailure) -> Bool {
    guard upstream.socket.satisfies(.readable) else { return false }
    switch upstream.receive() {
    case .moved: return true
    case .wouldBlock: return false
    case .failed(.noMemory): throw .outOfMemory(afterSending: true)
    case .ended, .failed: throw .reset
    }
  }

  /// Waits for the upstream. Throws if `client`, unless `nil`, goes away or if the deadline passes.
  private func wait(
    _ socket: Socket, _ wanted: Readiness, _ client: Socket?, until deadline: Deadline
  ) async throws(UpstreamFailure) {
    let wake: Wake
    if let client {
      wake = await waiter.wait(socket, wanted, client, connection.abandonment, until: deadline)
      if connection.isAbandoned { throw .clientGone(afterSending: true) }
    } else {
      wake = await waiter.wait(socket, wanted, until: deadline)
    }
    if wake == .timedOut { throw .responseTimeout }
  }

  /// Waits for the head of the response.
  ///
  /// - Parameters:
  ///   - method: `.head` for a HEAD request, `.get` for any other: only a response to HEAD has another framing.
  ///   - requestAllowsReuse: false if the connection must not be reused after the response.
  ///   - limit: the time at which the response must be complete.
  ///   - reader: a reader that has read nothing.
  private func readHead(
    of upstream: UpstreamConnection, method: Method, requestAllowsReuse: Bool, until limit: Deadline,
    _ client: Socket?, _ reader: inout ResponseHeadReader
  ) async throws(UpstreamFailure) -> UpstreamResponse {
    let deadline = min(limit, poller.deadline(after: worker.settings.configuration.responseTimeout))
    let began = SystemClock.monotonicInstant()
    while true {
      // An early response is already in the input.
      if let head = try reader.parse(
        upstream.input, to: method, limits: worker.settings.configuration.limits.responseHead,
        into: worker.responseFields)
      {
        if head.status >= 500 || upstream.target.address.hasFailures { worker.pool.noteStatus(head.status, upstream) }
        let now = SystemClock.monotonicInstant()
        worker.metrics.upstreamAnswered(nanoseconds: (now - began).count)
        if let entry = connection.accessEntry { entry.upstreamFirstByte = (now - entry.began).count }
        // As in a passing response: clients disagree on which of two such fields to follow.
        for field in worker.responseFields where field.known.isLocation {
          guard worker.responseFields.onlyValue(of: field.known) != nil else {
            throw .malformed("more than one Location, Content-Location or Refresh field")
          }
        }
        var response = worker.response(from: head, upstream.input)
        if worker.pool.targets.count > 1 {
          answeringAddress = upstream.target.address.id
          for cookie in worker.addressCookies(upstream.input, of: upstream) {
            response.headers.append("Set-Cookie", FieldText.decode(cookie))
          }
        }
        upstream.input.consume(head.length)
        return UpstreamResponse(
          response, upstream, head, requestAllowsReuse: requestAllowsReuse, until: limit, connection)
      }
      try await wait(upstream.socket, .readable, client, until: deadline)
      switch upstream.receive() {
      case .moved, .wouldBlock: continue
      case .failed(.noMemory): throw .outOfMemory(afterSending: true)
      case .ended, .failed: throw .reset
      }
    }
  }
}
