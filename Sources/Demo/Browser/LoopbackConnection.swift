package import HTTP
import HTTP1
package import LegacyServer
package import Reactor

/// A connection of a ``LoopbackClient`` for one request and its response.
package final class LoopbackConnection {
  private let socket: Socket
  private let waiter: Waiter
  private let buffers: BufferPool
  private let deadline: Deadline

  /// Creates a connection over a connected socket, which the caller closes.
  package init(_ socket: Socket, _ waiter: Waiter, _ buffers: BufferPool, _ deadline: Deadline) {
    self.socket = socket
    self.waiter = waiter
    self.buffers = buffers
    self.deadline = deadline
  }

  /// Sends the request. Adds `Connection: close`, a `Host` field if there is none, and `Content-Length` if there is a
  /// body or the method is POST. Does not throw if the server closes the connection early.
  package func write(_ request: Request, to address: WebAddress) async throws(LoopbackClient.Failure) {
    var text = "\(request.method) \(request.target) HTTP/1.1\r\n"
    if !request.headers.contains("Host") { text += "Host: \(address.authority)\r\n" }
    for field in request.headers.fields { text += "\(field.name): \(field.value)\r\n" }
    if !request.body.isEmpty || request.method == "POST" { text += "Content-Length: \(request.body.count)\r\n" }
    text += "Connection: close\r\n\r\n"
    let bytes = Array(text.utf8) + request.body
    guard let buffer = buffers.take() else { throw .connect(.failed(.noMemory)) }
    defer { buffers.wipeAndGiveBack(buffer) }
    var position = 0
    while position < bytes.count || !buffer.isEmpty {
      let count = min(buffer.room, bytes.count - position)
      if count > 0 {
        buffer.append(bytes, in: position..<position + count)
        position += count
      }
      switch socket.send(buffer) {
      case .moved: continue
      case .wouldBlock: try await wait(.writable)
      // The server may have sent a response before it closed the connection.
      case .ended, .failed: return
      }
    }
  }

  /// Receives the final response. Skips 1xx responses.
  ///
  /// - Parameter isHeadRequest: True if the request was HEAD, whose response has no body.
  package func readResponse(isHeadRequest: Bool) async throws(LoopbackClient.Failure) -> Response {
    guard let buffer = buffers.take() else { throw .connect(.failed(.noMemory)) }
    defer { buffers.wipeAndGiveBack(buffer) }
    var (response, framing) = try await readHead(buffer, isHeadRequest: isHeadRequest)
    var decoder = BodyDecoder(framing)
    while !decoder.isFinished {
      if buffer.isEmpty {
        guard try await receive(buffer) else {
          guard decoder.endsCompletely() else { throw .incomplete }
          break
        }
      }
      do throws(MessageError) {
        let piece = try buffer.withSpan { (bytes: Span<UInt8>) throws(MessageError) in try decoder.decode(bytes) }
        response.body += buffer.bytes(from: piece.data.lowerBound, count: piece.data.count)
        buffer.consume(piece.consumed)
      } catch {
        throw .malformed(error)
      }
      guard response.body.count <= LoopbackClient.bodyLimit else { throw .tooLong }
    }
    return response
  }

  /// Receives the head of the final response. Skips the heads of 1xx responses.
  private func readHead(
    _ buffer: Buffer, isHeadRequest: Bool
  ) async throws(LoopbackClient.Failure) -> (Response, BodyFraming) {
    let fields = HeadIndex()
    while true {
      var scanner = HeadScanner()
      do throws(MessageError) {
        let parsed = try buffer.withSpan { (bytes: Span<UInt8>) throws(MessageError) -> ResponseHead? in
          guard let length = try scanner.end(of: bytes) else { return nil }
          return try ResponseHeadParser.parse(bytes, length: length, to: isHeadRequest ? .head : .get, into: fields)
        }
        if let parsed {
          let headers = buffer.withSpan { bytes in
            Headers(fields.map { .init(name: text(bytes, $0.name), value: text(bytes, $0.value)) })
          }
          buffer.consume(parsed.length)
          if parsed.status >= 200 { return (Response(status: parsed.status, headers: headers), parsed.body) }
          continue
        }
      } catch {
        throw .malformed(error)
      }
      // The head is incomplete. `receiveRoom` is the part of the buffer's room into which data can be received.
      guard buffer.receiveRoom > 0 else { throw .malformed(MessageError(status: 502, "a head that is too long")) }
      guard try await receive(buffer) else { throw .incomplete }
    }
  }

  /// Waits for data. Returns false if the connection has ended or failed.
  private func receive(_ buffer: Buffer) async throws(LoopbackClient.Failure) -> Bool {
    while true {
      switch socket.receive(into: buffer) {
      case .moved: return true
      case .wouldBlock: try await wait(.readable)
      case .ended, .failed: return false
      }
    }
  }

  private func wait(_ wanted: Readiness) async throws(LoopbackClient.Failure) {
    if await waiter.wait(socket, wanted, until: deadline) == .timedOut { throw .timedOut }
  }

  private func text(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String {
    String(decoding: range.map { bytes[$0] }, as: UTF8.self)
  }
}
