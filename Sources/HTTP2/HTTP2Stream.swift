import Reactor

/// One request and its response on a connection, and what of their bodies waits.
///
/// The session fills and empties it; who serves the stream reads the request from it as the bytes of an HTTP/1.1 one.
/// A connection uses the object again for a later stream, so all that belongs to one stream stands in `State`.
public final class HTTP2Stream {
  struct State {
    // The request.
    /// What `content-length` announced.
    var announced: Int?
    /// Bytes of body that came.
    var received = 0
    var bodyBytes = 0
    /// Bytes of the blocks that hold them.
    var bodyMemory = 0
    /// Taken, and not yet known to be sent on: their credit is withheld.
    var uncredited = 0
    var headTaken = false
    var isChunked = false
    var endTaken = false
    /// The field section was beyond the limits: the answer is 431.
    var isTooLarge = false
    var isHead = false
    /// The client has sent all of the request.
    var requestEnded = false
    /// A request was handed out, so that whoever serves it learns of the stream's end.
    var isBegun = false
    var hasNews = false

    // The response.
    var isResponding = false
    var responseEnded = false
    /// nghttp2 was told that there is nothing to send for now, and asks no more until it is told otherwise.
    var isDeferred = false
    /// Nothing more of the request is of use.
    var stopsReading = false
    /// Bytes of the request that came since.
    var discarded = 0
    /// The client has the whole response and still sends its request.
    var isOverdue = false
    var resetByServer = false
    /// It was reset because what the client sent is malformed.
    var isRefused = false
    var isClosed = false
    /// Where it stands among the open streams of its session.
    var position = -1
    /// For whoever serves it.
    var mark = -1
  }

  public private(set) var id: Int32
  private let buffers: BufferPool
  var state = State()
  /// The HTTP/1.1 head without framing field and empty line, until it is taken.
  let head = Buffer()
  /// Bytes of body that wait, in the order in which they came.
  private var body: [Buffer] = []
  /// Bytes of the response that wait.
  let outbound = Buffer()

  init(_ id: Int32, _ buffers: BufferPool) {
    self.id = id
    self.buffers = buffers
  }

  /// Makes it the stream `id`, which knows nothing of the one that it was.
  func begin(_ id: Int32) {
    release()
    self.id = id
    state = State()
  }

  public var isTooLarge: Bool { state.isTooLarge }
  public var isHead: Bool { state.isHead }
  /// The client has the whole response and still sends its request.
  public var isOverdue: Bool { state.isOverdue }
  /// It was reset because what the client sent is malformed.
  public var isRefused: Bool { state.isRefused }
  public var isClosed: Bool { state.isClosed }
  /// The client has sent all of the request.
  public var requestEnded: Bool { state.requestEnded }
  /// Room for a note of whoever serves it; -1 for a stream that has just begun.
  public var mark: Int {
    get { state.mark }
    set { state.mark = newValue }
  }

  /// True if all of a response has been written.
  public var hasResponse: Bool { state.isResponding && state.responseEnded }

  /// Bytes of the response that wait for the client's credit.
  public var outboundBytes: Int { outbound.count }

  /// True if `take` would give something, or say that nothing more comes.
  public var isReadable: Bool { !state.headTaken || state.bodyBytes > 0 || state.requestEnded || state.stopsReading }

  /// What is longer gets a block that is received into; shorter pieces would leave most of it empty.
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

  /// What `take` came to.
  enum Taken {
    /// So many bytes of body were among what was written.
    case bytes(Int)
    case nothing
    case ended
  }

  /// A chunk's framing: up to 4 hexadecimal digits and two line ends; and the last chunk.
  private static let chunkOverhead = 16
  private static let leastPiece = 256

  /// Writes the next bytes of the request, as HTTP/1.1 has them, into `buffer`.
  func take(into buffer: Buffer) -> Taken {
    if !state.headTaken {
      takeHead(into: buffer)
      return .bytes(state.isChunked ? 0 : takeBody(into: buffer, upTo: buffer.readRoom))
    }
    if state.bodyBytes > 0 {
      let room = state.isChunked ? buffer.readRoom - HTTP2Stream.chunkOverhead : buffer.readRoom
      // A buffer without room gets a small piece into its slack: else nothing would ever be read again.
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

  /// The framing field is only now decided: a body that is whole by now needs no chunks, and none no field.
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

  /// Gives all buffers back.
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
