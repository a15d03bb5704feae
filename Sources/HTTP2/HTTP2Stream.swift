import Reactor

/// One request and its response on a connection, with the buffered parts of their bodies.
///
/// The session fills and empties its buffers; `HTTP2Session.read` returns the request in HTTP/1.1 form. A connection
/// reuses the object for a later stream, so all data of one stream except its buffers is in `State`.
public final class HTTP2Stream {
  struct State {
    // The request.
    /// The value of `content-length`.
    var announced: Int?
    /// The number of body bytes received.
    var received = 0
    /// The number of buffered body bytes.
    var bodyBytes = 0
    /// The size of the blocks that hold them, in bytes.
    var bodyMemory = 0
    /// The number of bytes that were taken and may not have been forwarded yet: their credit is withheld.
    var uncredited = 0
    /// True if the head of the request was taken.
    var headTaken = false
    var isChunked = false
    /// True if the last chunk was taken.
    var endTaken = false
    /// True if the field section exceeded the limits: the response is 431.
    var isTooLarge = false
    var isHeadRequest = false
    /// True if the client has sent the whole request.
    var requestEnded = false
    /// True if the session has reported the request, so it must also report the end of the stream.
    var isBegun = false
    var hasNews = false

    // The response.
    var isResponding = false
    var responseEnded = false
    /// True if nghttp2 asked for response bytes and there were none: it waits until the session resumes the stream.
    var isDeferred = false
    /// True if the rest of the request is not needed.
    var stopsReading = false
    /// The number of request bytes that were discarded because of `stopsReading`.
    var discarded = 0
    /// True if the whole response was sent and the client still sends its request.
    var isOverdue = false
    var resetByServer = false
    /// True if the stream was reset because the request is malformed.
    var isRefused = false
    var isClosed = false
    /// The index among the open streams of the session; -1 if it is not open.
    var position = -1
    /// A number that the user of the session stores here.
    var mark = -1
  }

  /// The stream number.
  public private(set) var id: Int32
  private let buffers: BufferPool
  var state = State()
  /// The HTTP/1.1 head without its framing field and empty line, until it is taken.
  let head = Buffer()
  /// The buffered body bytes, in order of arrival.
  private var body: [Buffer] = []
  /// The buffered bytes of the response.
  let outbound = Buffer()

  init(_ id: Int32, _ buffers: BufferPool) {
    self.id = id
    self.buffers = buffers
  }

  /// Reuses the object for the stream `id`; all state of the previous stream is reset.
  func begin(_ id: Int32) {
    release()
    self.id = id
    state = State()
  }

  /// True if the field section exceeded the limits: the response is 431.
  public var isTooLarge: Bool { state.isTooLarge }
  /// True if the method is HEAD.
  public var isHeadRequest: Bool { state.isHeadRequest }
  /// True if the whole response was sent and the client still sends its request.
  public var isOverdue: Bool { state.isOverdue }
  /// True if the stream was reset because the request is malformed.
  public var isRefused: Bool { state.isRefused }
  /// True if the stream is closed.
  public var isClosed: Bool { state.isClosed }
  /// True if the client has sent the whole request.
  public var requestEnded: Bool { state.requestEnded }
  /// A number that the user of the session stores here; -1 for a new stream.
  public var mark: Int {
    get { state.mark }
    set { state.mark = newValue }
  }

  /// True if the whole response has been written to the session.
  public var hasResponse: Bool { state.isResponding && state.responseEnded }

  /// The number of response bytes that wait for the client's credit.
  public var outboundBytes: Int { outbound.count }

  /// True if `HTTP2Session.read` would return bytes or the end of the request.
  public var isReadable: Bool { !state.headTaken || state.bodyBytes > 0 || state.requestEnded || state.stopsReading }

  /// The number of received bytes above which they get a normal block; fewer bytes would leave too much of it empty.
  private static let smallPiece = 12 * 1024

  func append(_ bytes: Span<UInt8>) {
    var position = 0
    while position < bytes.count {
      let last: Buffer
      if let buffer = body.last, buffer.room > 0 {
        last = buffer
      } else {
        last = Buffer()
        if bytes.count - position > HTTP2Stream.smallPiece {
          buffers.fill(last)
        } else {
          buffers.makeRoom(for: 1, in: last, isExact: false)
        }
        body.append(last)
        state.bodyMemory += last.blockSize
      }
      let count = min(last.room, bytes.count - position)
      last.append(bytes, in: position..<position + count)
      position += count
    }
    state.bodyBytes += bytes.count
    state.received += bytes.count
  }

  /// The result of `take`.
  enum Taken {
    /// Bytes were written. The number counts only those of the body, without framing.
    case bytes(Int)
    case nothing
    case ended
  }

  /// An upper bound of the bytes of chunk framing: up to 4 hexadecimal digits, two line ends, and the last chunk.
  private static let chunkOverhead = 16
  /// The size of a piece that is written although the buffer has no room for a receive.
  private static let leastPiece = 256

  /// Writes the next bytes of the request, in HTTP/1.1 form, into `buffer`.
  func take(into buffer: Buffer) -> Taken {
    if !state.headTaken {
      takeHead(into: buffer)
      return .bytes(state.isChunked ? 0 : takeBody(into: buffer, upTo: buffer.readRoom))
    }
    if state.bodyBytes > 0 {
      let room = state.isChunked ? buffer.readRoom - HTTP2Stream.chunkOverhead : buffer.readRoom
      // If the buffer has no room for a receive, a small piece is written into its slack; otherwise reading would never
      // continue.
      guard room > 0 || buffer.room > 2 * HTTP2Stream.leastPiece else { return .nothing }
      let count = min(max(room, HTTP2Stream.leastPiece), state.bodyBytes)
      if state.isChunked {
        buffer.append(hexadecimal: count)
        buffer.append("\r\n")
      }
      _ = takeBody(into: buffer, upTo: count)
      if state.isChunked { buffer.append("\r\n") }
      return .bytes(count)
    }
    guard state.requestEnded else { return .nothing }
    if state.isChunked, !state.endTaken, buffer.readRoom >= 5 {
      state.endTaken = true
      buffer.append("0\r\n\r\n")
      return .bytes(0)
    }
    return .ended
  }

  /// Writes the head. The framing field is decided only here: a body that is already complete gets a length instead of
  /// chunks, and an absent body gets no field.
  private func takeHead(into buffer: Buffer) {
    state.headTaken = true
    guard !head.isEmpty else { return }
    buffer.append(from: head, offset: 0, count: head.count)
    buffers.wipeAndGiveBack(head)
    if let length = state.announced ?? (state.requestEnded && state.received > 0 ? state.received : nil) {
      buffer.append("content-length: ")
      buffer.append(decimal: length)
      buffer.append("\r\n")
    } else if !state.requestEnded {
      state.isChunked = true
      buffer.append("transfer-encoding: chunked\r\n")
    }
    buffer.append("\r\n")
  }

  private func takeBody(into buffer: Buffer, upTo limit: Int) -> Int {
    var left = min(limit, state.bodyBytes)
    let count = left
    while left > 0, let first = body.first {
      let part = min(left, first.count)
      buffer.append(from: first, offset: 0, count: part)
      first.consume(part)
      left -= part
      if first.isEmpty {
        state.bodyMemory -= first.blockSize
        buffers.wipeAndGiveBack(body.removeFirst())
      }
    }
    state.bodyBytes -= count
    return count
  }

  /// Returns all buffers to the pool.
  func release() {
    buffers.wipeAndGiveBack(head)
    dropBody()
    buffers.wipeAndGiveBack(outbound)
  }

  func dropBody() {
    if !body.isEmpty {
      for buffer in body { buffers.wipeAndGiveBack(buffer) }
      body = []
    }
    state.bodyBytes = 0
    state.bodyMemory = 0
  }
}
