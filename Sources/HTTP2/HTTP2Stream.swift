import Reactor

/// One request and its response on a connection, and what of their bodies waits.
///
/// The session fills and empties it; who serves the stream reads the request from it as the bytes of an HTTP/1.1 one.
public final class HTTP2Stream {
  public let id: Int32
  private let buffers: BufferPool

  // The request.
  /// The HTTP/1.1 head without framing field and empty line, until it is taken.
  var head: Buffer?
  /// What `content-length` announced.
  var announced: Int?
  /// Bytes of body that came.
  var received = 0
  /// Bytes of body that wait, in the order in which they came.
  private var body: [Buffer] = []
  var bodyBytes = 0
  /// Taken, and not yet known to be sent on: their credit is withheld.
  var uncredited = 0
  private var headTaken = false
  private var isChunked = false
  private var endTaken = false
  /// The field section was beyond the limits: the answer is 431.
  public internal(set) var isTooLarge = false
  public internal(set) var isHead = false
  /// The client has sent all of the request.
  public internal(set) var requestEnded = false
  /// A request was handed out, so that whoever serves it learns of the stream's end.
  var isBegun = false
  var hasNews = false

  // The response.
  var outbound: Buffer?
  var isResponding = false
  var responseEnded = false
  /// Nothing more of the request is of use.
  var stopsReading = false
  var resetByServer = false
  /// It was reset because what the client sent is malformed.
  public internal(set) var isRefused = false
  public internal(set) var isClosed = false

  init(_ id: Int32, _ buffers: BufferPool) {
    self.id = id
    self.buffers = buffers
  }

  /// Whether all of a response has been written.
  public var hasResponse: Bool { isResponding && responseEnded }

  /// Bytes of the response that wait for the client's credit.
  public var outboundBytes: Int { outbound?.count ?? 0 }

  /// Whether `take` would give something, or say that nothing more comes.
  public var isReadable: Bool { !headTaken || bodyBytes > 0 || requestEnded || stopsReading }

  func append(_ bytes: Span<UInt8>) {
    var position = 0
    while position < bytes.count {
      let last: Buffer
      if let buffer = body.last, buffer.room > 0 {
        last = buffer
      } else {
        last = buffers.take()
        body.append(last)
      }
      let count = min(last.room, bytes.count - position)
      last.append(bytes, in: position..<position + count)
      position += count
    }
    bodyBytes += bytes.count
    received += bytes.count
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
    if !headTaken {
      takeHead(into: buffer)
      return .bytes(isChunked ? 0 : takeBody(into: buffer, upTo: buffer.readRoom))
    }
    if bodyBytes > 0 {
      let room = isChunked ? buffer.readRoom - HTTP2Stream.chunkOverhead : buffer.readRoom
      // A buffer without room gets a small piece into its slack: else nothing would ever be read again.
      guard room > 0 || buffer.room > 2 * HTTP2Stream.leastPiece else { return .nothing }
      let count = min(max(room, HTTP2Stream.leastPiece), bodyBytes)
      if isChunked {
        buffer.append(hexadecimal: count)
        buffer.append("\r\n")
      }
      _ = takeBody(into: buffer, upTo: count)
      if isChunked { buffer.append("\r\n") }
      return .bytes(count)
    }
    guard requestEnded else { return .nothing }
    if isChunked, !endTaken, buffer.readRoom >= 5 {
      endTaken = true
      buffer.append("0\r\n\r\n")
      return .bytes(0)
    }
    return .ended
  }

  /// The framing field is only now decided: a body that is whole by now needs no chunks, and none no field.
  private func takeHead(into buffer: Buffer) {
    headTaken = true
    guard let head else { return }
    buffer.append(from: head, offset: 0, count: head.count)
    buffers.wipeAndGiveBack(head)
    self.head = nil
    if let length = announced ?? (requestEnded && received > 0 ? received : nil) {
      buffer.append("content-length: ")
      buffer.append(decimal: length)
      buffer.append("\r\n")
    } else if !requestEnded {
      isChunked = true
      buffer.append("transfer-encoding: chunked\r\n")
    }
    buffer.append("\r\n")
  }

  private func takeBody(into buffer: Buffer, upTo limit: Int) -> Int {
    var left = min(limit, bodyBytes)
    let count = left
    while left > 0, let first = body.first {
      let part = min(left, first.count)
      buffer.append(from: first, offset: 0, count: part)
      first.consume(part)
      left -= part
      if first.isEmpty { buffers.wipeAndGiveBack(body.removeFirst()) }
    }
    bodyBytes -= count
    return count
  }

  /// Gives all buffers back.
  func release() {
    if let head { buffers.wipeAndGiveBack(head) }
    head = nil
    dropBody()
    if let outbound { buffers.wipeAndGiveBack(outbound) }
    outbound = nil
  }

  func dropBody() {
    for buffer in body { buffers.wipeAndGiveBack(buffer) }
    body = []
    bodyBytes = 0
  }
}
