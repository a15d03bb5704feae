import Reactor

/// One request and its response, with the buffered parts of their bodies.
///
/// The session fills and empties the buffers; `HTTP2Session.read` returns the request in HTTP/1.1 form. The session
/// reuses the object for a later stream. So all data of a stream, except its number, its buffers and `callerIndex`, is in
/// `State`, which `begin` replaces.
public final class HTTP2Stream {
  struct State {
    // The request.
    /// The value of `content-length`; `nil` if the request has none.
    var contentLength: Int?
    /// The number of body bytes received, including those that were forwarded.
    var receivedBodyBytes = 0
    /// The number of buffered body bytes.
    var bodyBytes = 0
    /// The size of the blocks that contain the buffered body bytes, in bytes.
    var bodyMemory = 0
    /// The number of body bytes that `take` has written and whose credit has not been returned to the stream, because
    /// they may not have been forwarded yet.
    var uncreditedBytes = 0
    /// True if `take` has written the head of the request.
    var headTaken = false
    /// The length of the head that `take` has written; `nil` before, and if there was none.
    var headLength: Int?
    /// True if the body is written in chunks (RFC 9112, section 7.1).
    var isChunked = false
    /// True if `take` has written the last chunk, and all trailers.
    var lastChunkTaken = false
    /// The number of bytes of the last chunk and the trailers that `take` has written.
    var trailerBytesTaken = 0
    /// True if the field section exceeded the limits: the response is 431.
    var isTooLarge = false
    var isHeadRequest = false
    /// True if the client has sent the whole request.
    var requestEnded = false
    /// True if `takeChangedStreams` reports the request, because its field section is complete and not malformed. If
    /// false, `takeChangedStreams` does not report the end of a new stream object either.
    var isReportable = false
    /// True if `takeChangedStreams` has yet to report an event of the stream.
    var hasChanged = false

    // The response.
    /// True if the head of the final response was passed to nghttp2.
    var isResponding = false
    /// True if the caller has written the whole response.
    var responseEnded = false
    /// True if nghttp2 asked for response bytes and there were none. It asks again when the session resumes the stream.
    var isDeferred = false
    /// True if the rest of the request is discarded, because it is not needed.
    var discardsRequest = false
    /// The number of request bytes that were discarded.
    var discardedBytes = 0
    /// True if the whole response was sent before the client has ended its request.
    var responseSentEarly = false
    var resetByServer = false
    /// True if the stream was reset because the request is malformed.
    var isRefused = false
    var isClosed = false
    /// The index among the open streams of the session; -1 if the stream is not open.
    var openIndex = -1
  }

  /// The stream number.
  public private(set) var id: Int32 = 0
  private let buffers: BufferPool
  var state = State()
  /// The head in HTTP/1.1 form, without its framing field and empty line. Empty after `take` has written it.
  let head = Buffer()
  /// The buffered body bytes, in order of arrival.
  private var body: [Buffer] = []
  /// The buffered bytes of the response.
  let outbound = Buffer()
  /// The trailers of the request, as lines of HTTP/1.1; empty without trailers, and if the session keeps none. They count
  /// as memory in use.
  var requestTrailers: [UInt8] = [] {
    didSet { buffers.charge(requestTrailers.count - oldValue.count) }
  }
  /// The trailers of the response, as lines of HTTP/1.1; empty without trailers, and after they were given to nghttp2.
  /// They count as memory in use.
  var responseTrailers: [UInt8] = [] {
    didSet { buffers.charge(responseTrailers.count - oldValue.count) }
  }

  init(_ buffers: BufferPool) {
    self.buffers = buffers
  }

  /// Uses the object for the stream `id`.
  func begin(_ id: Int32) {
    release()
    self.id = id
    state = State()
  }

  /// True if the field section exceeded the limits: the response is 431.
  public var isTooLarge: Bool { state.isTooLarge }
  /// The length of the head in HTTP/1.1 form, once `HTTP2Session.read` has returned it. The head is written as a whole.
  public var headLength: Int? { state.headLength }
  /// True if the method is HEAD.
  public var isHeadRequest: Bool { state.isHeadRequest }
  /// True if the whole response was sent before the client has ended its request.
  public var responseSentEarly: Bool { state.responseSentEarly }
  /// True if the stream was reset because the request is malformed.
  public var isRefused: Bool { state.isRefused }
  /// True if the stream is closed.
  public var isClosed: Bool { state.isClosed }
  /// True if the client has sent the whole request.
  public var requestEnded: Bool { state.requestEnded }
  /// True if the client has sent bytes of a body that were not discarded.
  public var hasBody: Bool { state.receivedBodyBytes > 0 }
  /// The index under which the caller of the session keeps its own data about the stream; -1 if the caller has none.
  /// The session does not use this index. It is kept when the object is reused, so that the caller reuses its data, too.
  public var callerIndex = -1

  /// True if the caller has written the whole response.
  public var isResponseComplete: Bool { state.isResponding && state.responseEnded }

  /// The number of buffered response bytes, which wait for the client's credit.
  public var outboundBytes: Int { outbound.count }

  /// True if `HTTP2Session.read` would return bytes or the end of the request.
  public var isReadable: Bool { !state.headTaken || state.bodyBytes > 0 || state.requestEnded || state.discardsRequest }

  /// The number of received bytes above which the session stores them in a normal block. Fewer bytes would leave too
  /// much of the block empty, so they get a smaller one.
  private static let normalBlockThreshold = 12 * 1024

  /// Buffers bytes of the body. Returns false if there is no memory for all of them; the body is then incomplete.
  func append(_ bytes: Span<UInt8>) -> Bool {
    var position = 0
    while position < bytes.count {
      let last: Buffer
      if let buffer = body.last, buffer.room > 0 {
        last = buffer
      } else {
        last = Buffer()
        let isLarge = bytes.count - position > HTTP2Stream.normalBlockThreshold
        guard isLarge ? buffers.ensureBlock(in: last) : buffers.makeRoom(for: 1, in: last, isExact: false) else {
          state.bodyBytes += position
          return false
        }
        body.append(last)
        state.bodyMemory += last.blockSize
      }
      let count = min(last.room, bytes.count - position)
      last.append(bytes, in: position..<position + count)
      position += count
    }
    state.bodyBytes += bytes.count
    state.receivedBodyBytes += bytes.count
    return true
  }

  /// The result of `take`.
  enum TakeResult {
    /// Bytes were written. The value is the number of body bytes among them, without the head and chunk framing.
    case bytes(Int)
    /// No bytes are available now, or the buffer has no room.
    case nothing
    /// The whole request has been written.
    case ended
  }

  /// An upper bound of the bytes of chunk framing: 4 hexadecimal digits, two line ends, and the last chunk.
  private static let chunkOverhead = 16
  /// The minimum number of body bytes that a call of `take` writes once the head is written, even if `buffer.receiveRoom`
  /// (the room for a normal read) is smaller. A call writes fewer if fewer are buffered, and none if `receiveRoom` is used
  /// up and `buffer.room` is too small, too.
  private static let minimumPiece = 256

  /// Writes the next bytes of the request, in HTTP/1.1 form, into `buffer`.
  func take(into buffer: Buffer) -> TakeResult {
    if !state.headTaken {
      takeHead(into: buffer)
      return .bytes(state.isChunked ? 0 : takeBody(into: buffer, upTo: buffer.receiveRoom))
    }
    if state.bodyBytes > 0 {
      let room = state.isChunked ? buffer.receiveRoom - HTTP2Stream.chunkOverhead : buffer.receiveRoom
      // If `receiveRoom` is used up, `take` writes a small piece into the rest of the buffer (`buffer.room`). If `take`
      // wrote nothing, every later call might also write nothing, and the request would never continue.
      guard room > 0 || buffer.room > 2 * HTTP2Stream.minimumPiece else { return .nothing }
      let count = min(max(room, HTTP2Stream.minimumPiece), state.bodyBytes)
      if state.isChunked {
        buffer.append(hexadecimal: count)
        buffer.append("\r\n")
      }
      _ = takeBody(into: buffer, upTo: count)
      if state.isChunked { buffer.append("\r\n") }
      return .bytes(count)
    }
    guard state.requestEnded else { return .nothing }
    if state.isChunked, !state.lastChunkTaken {
      if !requestTrailers.isEmpty { return takeTrailers(into: buffer) }
      if buffer.receiveRoom >= 5 {
        state.lastChunkTaken = true
        buffer.append("0\r\n\r\n")
        return .bytes(0)
      }
    }
    return .ended
  }

  /// True if the request is sent in chunks, which alone can be followed by trailers (RFC 9112, section 7.1.2).
  var mayCarryTrailers: Bool { state.contentLength == nil && state.receivedBodyBytes > 0 && !state.discardsRequest }

  /// Writes as much of the last chunk and the trailers as the buffer has room for.
  private func takeTrailers(into buffer: Buffer) -> TakeResult {
    let end = Array("0\r\n".utf8) + requestTrailers + Array("\r\n".utf8)
    let room = buffer.receiveRoom > 0 ? buffer.receiveRoom : min(buffer.room, HTTP2Stream.minimumPiece)
    guard room > 0 else { return .nothing }
    let part = end[state.trailerBytesTaken...].prefix(room)
    buffer.append(Array(part))
    state.trailerBytesTaken += part.count
    state.lastChunkTaken = state.trailerBytesTaken == end.count
    if state.lastChunkTaken { requestTrailers = [] }
    return .bytes(0)
  }

  /// Writes the head, and chooses its framing field: `content-length` if the length is known or the body is already
  /// complete and has no trailers, none if the request has no body, otherwise `transfer-encoding`. Only chunks can be
  /// followed by trailers.
  private func takeHead(into buffer: Buffer) {
    state.headTaken = true
    guard !head.isEmpty else { return }
    let before = buffer.count
    if buffer.isEmpty {
      buffer.exchangeBlocks(with: head)
    } else {
      buffer.append(from: head, offset: 0, count: head.count)
    }
    buffers.wipeAndGiveBack(head)
    let hasCompleteBody = state.requestEnded && state.receivedBodyBytes > 0
    if let length = state.contentLength
      ?? (hasCompleteBody && requestTrailers.isEmpty ? state.receivedBodyBytes : nil)
    {
      buffer.append("content-length: ")
      buffer.append(decimal: length)
      buffer.append("\r\n")
    } else if !state.requestEnded || hasCompleteBody {
      state.isChunked = true
      buffer.append("transfer-encoding: chunked\r\n")
    }
    buffer.append("\r\n")
    state.headLength = buffer.count - before
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
    if !requestTrailers.isEmpty { requestTrailers = [] }
    if !responseTrailers.isEmpty { responseTrailers = [] }
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
