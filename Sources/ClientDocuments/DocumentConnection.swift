internal import ByteText
internal import HTTP1
import OAuth
import Reactor
import Time

/// A response that may contain a document.
struct DocumentResponse {
  /// The body, without framing.
  var body: [UInt8]
  /// The values of `Cache-Control`.
  var cacheControl: [String]
}

/// A connection for one GET request and its response. The TLS handshake is complete.
final class DocumentConnection {
  private let socket: Socket
  private let poller: Poller
  private let waiter: Waiter
  private let deadline: Deadline
  private let fields = HeadIndex()

  init(_ socket: Socket, _ poller: Poller, _ waiter: Waiter, _ deadline: Deadline) {
    self.socket = socket
    self.poller = poller
    self.waiter = waiter
    self.deadline = deadline
  }

  /// Sends the request and returns the response. Throws if the response cannot contain a document.
  func get(_ url: ClientDocumentURL) async throws(DocumentFailure) -> DocumentResponse {
    guard let buffer = poller.buffers.take() else {
      throw .unavailable(.connection, "the gateway has no memory for a buffer")
    }
    defer { poller.buffers.wipeAndGiveBack(buffer) }
    // No field tells the server about the user or the request of the user.
    buffer.append(
      Array(
        """
        GET \(url.path) HTTP/1.1\r\nHost: \(url.authority)\r\nUser-Agent: proofgate\r\n\
        Accept: application/json\r\nAccept-Encoding: identity\r\nConnection: close\r\n\r\n
        """.utf8))
    while !buffer.isEmpty {
      switch socket.send(buffer) {
      case .moved: continue
      case .wouldBlock: try await wait(.writable)
      case .ended, .failed: throw .unavailable(.response, "its server closed the connection")
      }
    }
    buffer.clear()
    var (response, framing) = try await head(buffer)
    if case .length(let length) = framing, length > ClientDocument.maximumLength { throw DocumentConnection.tooLong }
    var body = CollectedBody(framing)
    while !body.isFinished {
      if buffer.isEmpty {
        buffer.clear()
        guard try await receive(buffer) else {
          guard body.endsCompletely() else {
            throw .unavailable(.response, "its server sent an incomplete response")
          }
          break
        }
      }
      do throws(MessageError) {
        let consumed = try buffer.withSpan { (bytes: Span<UInt8>) throws(MessageError) in try body.decode(bytes) }
        buffer.consume(consumed)
      } catch {
        throw .unavailable(.response, "its server sent a malformed response")
      }
      guard body.data.count <= ClientDocument.maximumLength else { throw DocumentConnection.tooLong }
    }
    response.body = body.data
    return response
  }

  private static let tooLong = DocumentFailure.invalid("it is longer than \(ClientDocument.maximumLength) bytes")

  /// Receives the head of the final response and checks it. Leaves the bytes of the body in `buffer`.
  private func head(_ buffer: Buffer) async throws(DocumentFailure) -> (DocumentResponse, BodyFraming) {
    while true {
      var scanner = HeadScanner()
      let head: ResponseHead?
      do throws(MessageError) {
        head = try buffer.withSpan { (bytes: Span<UInt8>) throws(MessageError) -> ResponseHead? in
          guard let length = try scanner.end(of: bytes) else { return nil }
          return try ResponseHeadParser.parse(bytes, length: length, to: .get, into: fields)
        }
      } catch {
        throw .unavailable(.response, "its server sent a malformed response")
      }
      if let head {
        let response = try buffer.withSpan { (bytes: Span<UInt8>) throws(DocumentFailure) in try check(head, bytes) }
        buffer.consume(head.length)
        return (response, head.body)
      }
      guard buffer.receiveRoom > 0 else { throw .unavailable(.response, "its server sent a head that is too long") }
      guard try await receive(buffer) else { throw .unavailable(.response, "its server sent no complete response") }
    }
  }

  /// Returns the response without its body, or the reason why it cannot contain a document. A redirect is not followed
  /// (section 4 of the draft): its target has not passed the checks of the URL.
  private func check(_ head: ResponseHead, _ bytes: Span<UInt8>) throws(DocumentFailure) -> DocumentResponse {
    switch head.status {
    case 200: break
    case 300..<400: throw .invalid("its server redirects")
    case 400..<500: throw .status(head.status)
    case 500...: throw .unavailable(.response, "its server answered with status \(head.status)")
    // No field of the request asks for an interim response.
    default: throw .invalid("its server answered with status \(head.status)")
    }
    var types: [String] = []
    var cacheControl: [String] = []
    for field in fields {
      switch field.known {
      case .contentType: types.append(text(bytes, field.value))
      case .contentEncoding:
        guard HeadIndex.equalIgnoringCase(bytes, field.value, "identity") else {
          throw .invalid("its server compressed it")
        }
      default:
        guard HeadIndex.equalIgnoringCase(bytes, field.name, "cache-control") else { continue }
        cacheControl.append(text(bytes, field.value))
      }
    }
    guard types.count == 1, DocumentConnection.isJSON(types[0]) else {
      throw .invalid("its media type is not JSON")
    }
    return DocumentResponse(body: [], cacheControl: cacheControl)
  }

  /// True for `application/json` and `application/...+json`.
  static func isJSON(_ contentType: String) -> Bool {
    let type = contentType.asciiReading.prefix { $0 != ";" && $0 != " " && $0 != "\t" }.lowercased()
    return type == "application/json"
      || type.hasPrefix("application/") && type.hasSuffix("+json") && type.utf8.count > "application/+json".utf8.count
  }

  private func text(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String {
    String(decoding: [UInt8](copying: bytes.extracting(range)), as: UTF8.self)
  }

  /// Waits for data. Returns false if the connection has ended. An end of TLS without `close_notify` is a failure, so a
  /// response without framing cannot be cut off.
  private func receive(_ buffer: Buffer) async throws(DocumentFailure) -> Bool {
    while true {
      switch socket.receive(into: buffer) {
      case .moved: return true
      case .wouldBlock: try await wait(.readable)
      case .ended: return false
      case .failed: throw .unavailable(.response, "the connection to its server broke")
      }
    }
  }

  private func wait(_ wanted: Readiness) async throws(DocumentFailure) {
    if await waiter.wait(socket, wanted, until: deadline) == .timedOut {
      throw .unavailable(.timeout, "its server took longer than \(Seconds(DocumentFetcher.timeout).count) s")
    }
  }
}
