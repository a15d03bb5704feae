public import HTTP
import HTTP1
import Reactor

/// The upstream as an intercepted request's handler sees it: requests of the gateway's own making.
public final class Upstream {
  private let connection: ServerConnection
  private var waiter: Waiter { connection.waiter }
  private var worker: ProxyWorker { connection.worker }
  private var poller: Poller { connection.poller }

  init(_ connection: ServerConnection) {
    self.connection = connection
  }

  /// Sends a request and waits for the head of the answer, whose body is then collected, relayed or discarded.
  ///
  /// A request that is safe to send twice is, once, when a reused connection turns out to be closed.
  ///
  /// Throws `UpstreamFailure`; `nothingWasSent` of it says whether the upstream can have seen the request.
  public func send(_ request: OutboundRequest) async throws(UpstreamFailure) -> UpstreamResponse {
    let isIdempotent = request.method == "GET" || request.method == "HEAD"
    var mayReuse = true
    while true {
      let upstream = try await worker.pool.take(mayReuse: mayReuse, isIdempotent: isIdempotent, waiter)
      let wasReused = upstream.isReused
      do throws(UpstreamFailure) {
        try await write(request, to: upstream)
        return try await readHead(of: upstream, method: request.method == "HEAD" ? .head : .get)
      } catch {
        let answered = !upstream.input.isEmpty
        worker.pool.retire(upstream)
        if error == .reset, wasReused, isIdempotent, mayReuse, !answered {
          mayReuse = false
          continue
        }
        worker.metrics.upstreamFailed(error)
        throw error
      }
    }
  }

  private func write(_ request: OutboundRequest, to upstream: UpstreamConnection) async throws(UpstreamFailure) {
    let buffer = poller.buffers.take()
    defer {
      if request.isSecret { poller.buffers.wipeAndGiveBack(buffer) } else { poller.buffers.giveBack(buffer) }
    }
    let head =
      "\(request.method) \(request.target) HTTP/1.1\r\nHost: \(worker.settings.configuration.upstreamAuthority)\r\n"
    guard head.utf8.count < Buffer.readSize, Upstream.isVisible(request.method), Upstream.isVisible(request.target)
    else { throw .malformed }
    buffer.append(head)
    ResponseEncoder.appendFields(request.headers, to: buffer)
    if !request.body.isEmpty || request.method == "POST" {
      buffer.append("Content-Length: ")
      buffer.append(decimal: request.body.count)
      buffer.append("\r\n")
    }
    try await makeRoom(buffer, upstream)
    buffer.append("Via: 1.1 \(worker.settings.configuration.pseudonym)\r\n")
    ClientIdentity.append(request.peer, host: worker.settings.configuration.authority, to: buffer)
    buffer.append("\r\n")
    var position = 0
    while true {
      let count = min(buffer.room, request.body.count - position)
      if count > 0 {
        buffer.append(request.body, in: position..<position + count)
        position += count
      }
      if buffer.isEmpty { return }
      try await flush(buffer, upstream)
    }
  }

  /// Whether it cannot end the request line early: the last line of defence, the caller has built it from validated values.
  private static func isVisible(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
  }

  /// The last fields need less than the slack: a head that came near it is sent in two parts.
  private func makeRoom(_ buffer: Buffer, _ upstream: UpstreamConnection) async throws(UpstreamFailure) {
    if buffer.room < Buffer.slack / 2 { try await flush(buffer, upstream) }
  }

  private func flush(_ buffer: Buffer, _ upstream: UpstreamConnection) async throws(UpstreamFailure) {
    let deadline = poller.deadline(after: worker.settings.configuration.bodyTimeout)
    while !buffer.isEmpty {
      switch upstream.socket.send(buffer) {
      case .moved: continue
      case .wouldBlock:
        if await waiter.wait(upstream.socket, .writable, until: deadline) != .ready { throw .responseTimeout }
      case .ended, .failed: throw .reset
      }
    }
  }

  private func readHead(
    of upstream: UpstreamConnection, method: Method
  ) async throws(UpstreamFailure)
    -> UpstreamResponse
  {
    let deadline = poller.deadline(after: worker.settings.configuration.responseTimeout)
    var reader = ResponseHeadReader()
    while true {
      switch upstream.receive() {
      case .wouldBlock:
        if await waiter.wait(upstream.socket, .readable, until: deadline) == .timedOut { throw .responseTimeout }
      case .ended, .failed: throw .reset
      case .moved:
        guard let head = try reader.parse(upstream.input, to: method, into: worker.responseFields) else { continue }
        let response = worker.values(of: head, upstream.input)
        upstream.input.consume(head.length)
        return UpstreamResponse(response, upstream, head, connection)
      }
    }
  }
}

/// An answer of the upstream: its head, and a body that is still to be read.
public final class UpstreamResponse {
  /// The head: status and fields, without framing. The body is empty.
  public let head: Response
  let connection: UpstreamConnection
  let parsed: ResponseHead
  private let server: ServerConnection
  private var isTaken = false

  init(_ head: Response, _ connection: UpstreamConnection, _ parsed: ResponseHead, _ server: ServerConnection) {
    self.head = head
    self.connection = connection
    self.parsed = parsed
    self.server = server
  }

  deinit {
    // Neither read nor relayed: the connection cannot be used again.
    if !isTaken { server.worker.pool.retire(connection) }
  }

  /// Hands the connection to whoever streams the body.
  func take() -> UpstreamConnection {
    isTaken = true
    return connection
  }

  /// Reads the body whole, at most `ProxySettings.collectedBodyLimit` bytes.
  public func collect() async throws(UpstreamFailure) -> [UInt8] {
    isTaken = true
    let worker = server.worker
    var body: [UInt8] = []
    do throws(UpstreamFailure) {
      try await read(into: &body, worker)
    } catch {
      worker.pool.retire(connection)
      worker.metrics.upstreamFailed(error)
      throw error
    }
    releaseBuffer()
    if parsed.keepsAlive { worker.pool.giveBack(connection) } else { worker.pool.retire(connection) }
    return body
  }

  private func read(into body: inout [UInt8], _ worker: ProxyWorker) async throws(UpstreamFailure) {
    var decoder = BodyDecoder(parsed.body)
    let deadline = worker.poller.deadline(after: worker.settings.configuration.bodyTimeout)
    while !decoder.isFinished {
      let input = connection.input
      if !input.isEmpty {
        do throws(MessageError) {
          let piece = try input.withSpan { (bytes: Span<UInt8>) throws(MessageError) in try decoder.decode(bytes) }
          body += input.bytes(from: piece.data.lowerBound, count: piece.data.count)
          input.consume(piece.consumed)
        } catch {
          throw .malformed
        }
        guard body.count <= worker.settings.configuration.collectedBodyLimit else { throw .malformed }
        continue
      }
      if await server.waiter.wait(connection.socket, .readable, until: deadline) == .timedOut {
        throw .responseTimeout
      }
      switch connection.receive() {
      case .moved, .wouldBlock: continue
      case .ended:
        guard decoder.close() else { throw .reset }
      case .failed: throw .reset
      }
    }
  }

  private func releaseBuffer() {
    // It held what is secret: tokens.
    if connection.input.isEmpty { server.poller.buffers.wipeAndGiveBack(connection.input) }
  }
}
