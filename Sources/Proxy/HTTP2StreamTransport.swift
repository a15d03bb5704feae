import HTTP1
import HTTP2
import Reactor

/// Makes one HTTP/2 stream look like the socket of an HTTP/1.1 client. The code that serves HTTP/1.1 reads the request
/// as a head and a body from this socket, and the bytes that it sends become HEADERS and DATA frames.
///
/// Both directions use the same parsers as HTTP/1.1, so each message has a single interpretation. The head of a passing
/// response is already parsed and is rewritten into fields directly (`respond`). The object stays with that of its stream,
/// which is reused for a later stream: `begin` resets everything that belongs to one stream.
final class HTTP2StreamTransport: StreamTransport {
  let stream: HTTP2Stream
  private let connection: HTTP2Connection
  private let session: HTTP2Session
  /// The block of the connection (`HTTP2Connection.block`), cached to avoid a retain and release per use.
  private let block: FieldBlock
  /// The task that serves the stream, or waits for a later one; `nil` after `dismissTask`, which also ends the cycle of
  /// references.
  private var server: HTTP2StreamServer?
  /// True while the task serves the stream.
  private var isServed = false
  /// True from the start of a stream to its end.
  var isInUse = false
  /// Removes the framing of the response body; `nil` until the head is sent.
  private var body: BodyDecoder?
  /// The bytes of the trailer section of the response body, including its empty line.
  private var trailers: [UInt8] = []
  /// The deadline of a stream that no task serves any more: for the client to accept more of the response, or to
  /// complete its request (`awaitsRequestEnd`).
  private(set) var deadline = Deadline.never
  /// The number of response bytes that were waiting for flow-control credit when `deadline` was set.
  private var outboundBytesAtDeadline = 0
  /// True if `deadline` is the one for the client to complete its request.
  private var awaitsRequestEnd = false
  /// True if the connection has ended.
  private var isAbandoned = false

  /// Removes the deadline after it has passed, so that the stream is reset only once.
  func clearDeadline() {
    deadline = .never
  }

  init(_ stream: HTTP2Stream, _ connection: HTTP2Connection, _ session: HTTP2Session) {
    self.stream = stream
    self.connection = connection
    self.session = session
    block = connection.block
  }

  /// True if the stream is open although no task serves it any more.
  var hasNoTask: Bool { isInUse && !isServed }

  /// Begins to serve the stream.
  ///
  /// - Parameter refusal: The reason to refuse the request before it is read, if any.
  func begin(refusal: ProxyFailure?) {
    isInUse = true
    body = nil
    if !trailers.isEmpty { trailers = [] }
    deadline = .never
    outboundBytesAtDeadline = 0
    awaitsRequestEnd = false
    isAbandoned = false
    let server = server ?? startServer()
    isServed = true
    server.begin(refusal)
  }

  private func startServer() -> HTTP2StreamServer {
    let server = HTTP2StreamServer(self, of: connection.acceptedConnection)
    self.server = server
    connection.poller.start(server)
    return server
  }

  /// Ends the task once it does not serve the stream any more.
  func dismissTask() {
    server?.dismiss()
    server = nil
  }

  /// The socket of the task while it serves the stream.
  var socket: Socket? { isServed ? server?.socket : nil }

  private var isBroken: Bool { isAbandoned || stream.isClosed || stream.isRefused }

  /// Signals the task of the stream that the connection has ended.
  func abandon() {
    isAbandoned = true
    socket?.signal(.broken)
  }

  /// Handles a change of the stream that the session has reported: signals the socket, or updates the deadline if no
  /// task serves the stream.
  func update() {
    guard let socket else { return extendDeadline() }
    if isBroken { return socket.signal(.broken) }
    var bits: Readiness = []
    if stream.isReadable { bits.insert(.readable) }
    if session.isReadyForMore(stream) { bits.insert(.writable) }
    if !bits.isEmpty { socket.signal(bits) }
  }

  /// Sets a new deadline if the client has accepted more of the response, or if only the end of the request is missing
  /// and the deadline for this end is not set yet.
  private func extendDeadline() {
    if stream.responseSentEarly {
      if !awaitsRequestEnd { deadline = connection.lingerDeadline }
      awaitsRequestEnd = true
      return
    }
    guard stream.outboundBytes < outboundBytesAtDeadline else { return }
    outboundBytesAtDeadline = stream.outboundBytes
    deadline = connection.progressDeadline
  }

  // MARK: The request

  /// The length of the request head, once it was received.
  var headLength: Int? { stream.headLength }

  override func receive(into buffer: Buffer) -> Transfer {
    if isBroken { return .failed(.reset) }
    let count = session.read(stream, into: buffer)
    // Reading a body may return credit to the client.
    if stream.hasBody { connection.wakeToSend() }
    guard let count else { return .ended }
    return count > 0 ? .moved(count) : .wouldBlock
  }

  // MARK: The response

  override func send(_ buffer: Buffer, upTo count: Int) -> Transfer {
    var left = count
    while left > 0 {
      if isBroken { return .failed(.reset) }
      let consumed: Int?
      if body == nil { consumed = sendHead(buffer) } else { consumed = sendBody(buffer, left) }
      guard let consumed else {
        session.reset(stream, .internalError)
        connection.wakeToSend()
        return .failed(.protocolViolation)
      }
      if consumed == 0 { break }
      left -= consumed
    }
    connection.wakeToSend()
    return left == count ? .wouldBlock : .moved(count - left)
  }

  /// Starts a response whose fields `write` appends to an empty block, and whose body follows in this framing. Returns
  /// false if the client has gone or the fields are too large.
  func respond(_ framing: BodyFraming, _ write: (FieldBlock) -> Void) -> Bool {
    // All streams of the connection share the block, and it may still hold fields of a response that failed.
    block.clear()
    defer { block.clear() }
    write(block)
    if isBroken { return false }
    guard !block.isTooLarge else {
      session.reset(stream, .internalError)
      connection.wakeToSend()
      return false
    }
    session.respond(stream, block, isFinal: true, endsStream: framing == .none)
    body = BodyDecoder(framing)
    connection.wakeToSend()
    return true
  }

  /// Sends the complete head at the front of `buffer`. Returns its length, or `nil` if it cannot be parsed or sent.
  private func sendHead(_ buffer: Buffer) -> Int? {
    let worker = connection.worker
    // `worker.responseFields` may contain the fields of an upstream response that is still in use.
    let fields = worker.scratchHeadIndex
    defer { block.clear() }
    let head: ResponseHead
    do throws(MessageError) {
      head = try buffer.withSpan { (bytes: Span<UInt8>) throws(MessageError) -> ResponseHead in
        var scanner = HeadScanner()
        guard let length = try scanner.end(of: bytes) else { throw MessageError(status: 502, "an incomplete head") }
        let head = try ResponseHeadParser.parse(
          bytes, length: length, to: stream.isHeadRequest ? .head : .get, into: fields)
        block.append(":status", decimal: head.status)
        for field in fields where !field.isNamedByConnection {
          switch field.known {
          case .connection, .keepAlive, .proxyConnection, .transferEncoding, .te, .trailer, .upgrade, .http2Settings:
            continue
          default: block.append(bytes, name: field.name, value: field.value)
          }
        }
        return head
      }
    } catch {
      return nil
    }
    guard head.status != 101, !block.isTooLarge else { return nil }
    let isFinal = head.status >= 200
    session.respond(stream, block, isFinal: isFinal, endsStream: isFinal && head.body == .none)
    if isFinal { body = BodyDecoder(head.body) }
    buffer.consume(head.length)
    return head.length
  }

  /// Sends as many bytes of the body as the stream has room for. Returns the number of bytes consumed, or `nil` if the
  /// body is malformed or longer than announced, or if there is no memory for the bytes.
  private func sendBody(_ buffer: Buffer, _ count: Int) -> Int? {
    guard var decoder = body, !decoder.isFinished else { return nil }
    let limit = min(count, session.room(for: stream))
    guard limit > 0 else { return 0 }
    let piece: BodyDecoder.Piece
    do throws(MessageError) {
      piece = try buffer.withSpan { (bytes: Span<UInt8>) throws(MessageError) in
        try decoder.decode(bytes.extracting(0..<limit))
      }
    } catch {
      return nil
    }
    guard session.write(stream, buffer, offset: piece.data.lowerBound, count: piece.data.count) else { return nil }
    // `body` is still the state in front of this piece.
    if piece.data.isEmpty, let body, body.isInTrailers { trailers += buffer.bytes(from: 0, count: piece.consumed) }
    buffer.consume(piece.consumed)
    body = decoder
    if decoder.isFinished { endBody() }
    return piece.consumed
  }

  /// Ends the response, with the trailers that the exchange has filtered (`TrailerFields`).
  private func endBody() {
    let lineEnd = 2
    guard trailers.count > lineEnd else { return session.finish(stream) }
    session.finish(stream, trailers: Array(trailers.dropLast(lineEnd)))
    trailers = []
  }

  // MARK: The end

  override func shutdownWrite() {
    // The last frame of the response already ends the sending side (END_STREAM), so only the rest of the request must
    // be discarded.
    session.stopReading(stream)
  }

  override func close(isReset: Bool) {
    isServed = false
    if !stream.isClosed {
      session.stopReading(stream)
      if isReset || !stream.isResponseComplete { session.reset(stream, .internalError) }
      outboundBytesAtDeadline = stream.outboundBytes
      deadline = connection.progressDeadline
      extendDeadline()
    }
    connection.served(self)
  }
}
