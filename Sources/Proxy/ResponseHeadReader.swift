import HTTP
import HTTP1
import Reactor

/// Receives and parses the head of an upstream's response, past interim ones.
final class ResponseHeadReader {
  enum Received {
    case received
    case wouldBlock
    case closed
    case malformed
  }

  /// More interim responses than any server sends: without a bound an upstream could hold an exchange for ever.
  private static let interimLimit = 16

  private var upstream: UpstreamConnection?
  private let worker: ProxyWorker
  private var scanner = HeadScanner()
  private var interim = 0

  init(_ worker: ProxyWorker) {
    self.worker = worker
  }

  /// Starts over, with the next response of `upstream`.
  func begin(_ upstream: UpstreamConnection) {
    self.upstream = upstream
    scanner = HeadScanner()
    interim = 0
  }

  /// Lets go of the connection.
  func end() {
    upstream = nil
  }

  /// Receives more of the head.
  func receive() -> Received {
    guard let upstream else { return .closed }
    let buffer = upstream.input ?? worker.poller.buffers.take()
    upstream.input = buffer
    // An interim response may have stood before it.
    if buffer.readRoom == 0 { buffer.compact() }
    if buffer.readRoom == 0 { return .malformed }
    switch upstream.socket.receive(into: buffer) {
    case .moved: return .received
    case .wouldBlock: return .wouldBlock
    case .ended, .failed: return .closed
    }
  }

  /// The final head if it is whole, at the front of the connection's input; its fields are in `responseFields`.
  func parse(method: Method, acceptsSwitch: Bool = false) throws(UpstreamFailure) -> ResponseHead? {
    while let input = upstream?.input, !input.isEmpty {
      let head: ResponseHead?
      do throws(MessageError) {
        head = try input.withSpan { (bytes: Span<UInt8>) throws(MessageError) -> ResponseHead? in
          guard let length = try scanner.end(of: bytes) else { return nil }
          return try ResponseHeadParser.parse(bytes, length: length, to: method, into: worker.responseFields)
        }
      } catch {
        throw .malformed
      }
      guard let head else { return nil }
      if head.status >= 200 || head.status == 101 && acceptsSwitch { return head }
      interim += 1
      guard head.status != 101, interim <= ResponseHeadReader.interimLimit else { throw .malformed }
      input.consume(head.length)
      scanner = HeadScanner()
    }
    return nil
  }

  /// The parsed head as values.
  func values(_ head: ResponseHead) -> Response {
    let cookie = worker.settings.configuration.privateCookie
    let headers =
      upstream?.input?.withSpan { RequestReader.fields($0, worker.responseFields, privateCookie: cookie) } ?? Headers()
    return Response(status: head.status, headers: headers)
  }
}
