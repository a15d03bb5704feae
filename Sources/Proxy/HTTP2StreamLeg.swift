import HTTP1
import HTTP2
import Reactor

/// The client's side of one stream, to the code that serves HTTP/1.1: what that reads is the request as a head and a
/// body, what it writes becomes HEADERS and DATA.
///
/// Both are read by the parsers that read everything else, so there is one reading of each message. The head of a response
/// that passes has been read by then, and is rewritten into fields at once. A connection uses the object again for a later
/// stream: `begin` sets all that is of one.
final class HTTP2StreamLeg: StreamTransport {
  private(set) var stream: HTTP2Stream
  private let connection: HTTP2Connection
  private let session: HTTP2Session
  /// Open as long as a task serves the stream.
  private(set) var socket: Socket?
  /// Takes the framing off the response's body; `nil` before its head.
  private var body: BodyDecoder?
  /// Until when the client must have taken more of the response, once no task serves the stream.
  private(set) var deadline = Deadline.never
  private var outboundBytes = 0
  private var isOverdue = false
  /// The connection is over.
  private var isAbandoned = false

  /// Has had its time: it is reset once.
  func giveUp() {
    deadline = .never
  }

  init(_ stream: HTTP2Stream, _ connection: HTTP2Connection, _ session: HTTP2Session) {
    self.stream = stream
    self.connection = connection
    self.session = session
  }

  /// Carries another stream from now on.
  func begin(_ stream: HTTP2Stream) {
    self.stream = stream
    body = nil
    deadline = .never
    outboundBytes = 0
    isOverdue = false
    isAbandoned = false
  }

  /// Is served through `socket`, which is closed or new.
  func open(_ socket: Socket) {
    socket.open(self)
    socket.signal([.readable, .writable])
    self.socket = socket
  }

  private var isBroken: Bool { isAbandoned || stream.isClosed || stream.isRefused }

  /// Whoever serves the stream learns that its client is gone.
  func abandon() {
    isAbandoned = true
    socket?.signal(.broken)
  }

  /// The session has news of the stream.
  func update() {
    guard let socket else { return extendDeadline() }
    if isBroken { return socket.signal(.broken) }
    var bits: Readiness = []
    if stream.isReadable { bits.insert(.readable) }
    if session.isReadyForMore(stream) { bits.insert(.writable) }
    if !bits.isEmpty { socket.signal(bits) }
  }

  private func extendDeadline() {
    if stream.isOverdue {
      if !isOverdue { deadline = connection.lingerDeadline }
      isOverdue = true
      return
    }
    guard stream.outboundBytes < outboundBytes else { return }
    outboundBytes = stream.outboundBytes
    deadline = connection.progressDeadline
  }

  // MARK: The request

  func receive(into buffer: Buffer) -> Transfer {
    if isBroken { return .failed(IOError(code: 104)) }
    let count = session.read(stream, into: buffer)
    connection.wakeToSend()
    guard let count else { return .ended }
    return count > 0 ? .moved(count) : .wouldBlock
  }

  // MARK: The response

  func send(_ buffer: Buffer, upTo count: Int) -> Transfer {
    var left = count
    while left > 0 {
      if isBroken { return .failed(IOError(code: 104)) }
      let consumed: Int?
      if body == nil { consumed = sendHead(buffer) } else { consumed = sendBody(buffer, left) }
      guard let consumed else {
        session.reset(stream, .internalError)
        connection.wakeToSend()
        return .failed(IOError(code: 71))
      }
      if consumed == 0 { break }
      left -= consumed
    }
    connection.wakeToSend()
    return left == count ? .wouldBlock : .moved(count - left)
  }

  /// An empty block for the fields of a response that begins right after.
  func emptyBlock() -> FieldBlock {
    // The connection's streams share it: whatever became of the last response, nothing of it is left.
    connection.block.clear()
    return connection.block
  }

  /// Begins a response whose fields stand in the block and whose body will come in this framing; false when the client is
  /// gone.
  func respond(_ framing: BodyFraming) -> Bool {
    let block = connection.block
    defer { block.clear() }
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

  /// Sends the head at the front of `buffer`, which holds it whole; `nil` if it cannot be read.
  private func sendHead(_ buffer: Buffer) -> Int? {
    let worker = connection.worker
    let fields = worker.streamFields
    let block = connection.block
    defer { block.clear() }
    let head = buffer.withSpan { bytes -> ResponseHead? in
      var scanner = HeadScanner()
      guard let length = try? scanner.end(of: bytes),
        let head = try? ResponseHeadParser.parse(
          bytes, length: length, to: stream.isHead ? .head : .get, into: fields)
      else { return nil }
      block.append(":status", decimal: head.status)
      for field in fields where !field.isNominated {
        switch field.known {
        case .connection, .keepAlive, .proxyConnection, .transferEncoding, .te, .trailer, .upgrade, .http2Settings:
          continue
        default: block.append(bytes, name: field.name, value: field.value)
        }
      }
      return head
    }
    guard let head, head.status != 101, !block.isTooLarge else { return nil }
    let isFinal = head.status >= 200
    session.respond(stream, block, isFinal: isFinal, endsStream: isFinal && head.body == .none)
    if isFinal { body = BodyDecoder(head.body) }
    buffer.consume(head.length)
    return head.length
  }

  /// Passes on what the stream has room for; `nil` if more comes than was announced.
  private func sendBody(_ buffer: Buffer, _ count: Int) -> Int? {
    guard var decoder = body, !decoder.isFinished else { return nil }
    let limit = min(count, session.room(stream))
    guard limit > 0 else { return 0 }
    let piece = try? buffer.withSpan { (bytes: Span<UInt8>) throws(MessageError) in
      try decoder.decode(bytes.extracting(0..<limit))
    }
    guard let piece else { return nil }
    session.write(stream, buffer, offset: piece.data.lowerBound, count: piece.data.count)
    buffer.consume(piece.consumed)
    body = decoder
    if decoder.isFinished { session.finish(stream) }
    return piece.consumed
  }

  // MARK: The end

  func shutdownWrite() {
    session.stopReading(stream)
  }

  func close(isReset: Bool) {
    socket = nil
    if !stream.isClosed {
      session.stopReading(stream)
      if isReset || !stream.hasResponse { session.reset(stream, .internalError) }
      outboundBytes = stream.outboundBytes
      deadline = connection.progressDeadline
      extendDeadline()
    }
    connection.served(self)
  }
}
