import ByteText
import HTTP
import HTTP1
import Reactor

/// A connection of the probe for one request and its response. The TLS handshake is complete.
final class ProbeConnection {
  private let socket: Socket
  private let waiter: Waiter
  private let buffers: BufferPool
  private let deadline: Deadline

  init(_ socket: Socket, _ waiter: Waiter, _ buffers: BufferPool, _ deadline: Deadline) {
    self.socket = socket
    self.waiter = waiter
    self.buffers = buffers
    self.deadline = deadline
  }

  /// Sends the request. Does not throw if the server closes the connection early, because it may have answered before.
  func write(_ head: [UInt8], _ body: [UInt8]) async throws(ProbeFailure) {
    let bytes = head + body
    guard let buffer = buffers.take() else { throw .connection("\(IOError.noMemory)") }
    defer { buffers.wipeAndGiveBack(buffer) }
    var position = 0
    while position < bytes.count || !buffer.isEmpty {
      let count = min(buffer.room, bytes.count - position)
      buffer.append(bytes, in: position..<position + count)
      position += count
      switch socket.send(buffer) {
      case .moved: continue
      case .wouldBlock: try await wait(.writable)
      case .ended, .failed: return
      }
    }
  }

  /// Receives the final response. The body ends at the limit of ``ProbeAnswer``.
  func read() async throws(ProbeFailure) -> ProbeAnswer {
    guard let buffer = buffers.take() else { throw .connection("\(IOError.noMemory)") }
    defer { buffers.wipeAndGiveBack(buffer) }
    let (status, headers, framing) = try await readHead(buffer)
    var body: [UInt8] = []
    var decoder = BodyDecoder(framing)
    while !decoder.isFinished, body.count < ProbeAnswer.bodyLimit {
      if buffer.isEmpty {
        guard try await receive(buffer) else {
          guard decoder.endsCompletely() else { throw .incomplete }
          break
        }
      }
      do throws(MessageError) {
        let piece = try buffer.withSpan { (bytes: Span<UInt8>) throws(MessageError) in try decoder.decode(bytes) }
        body += buffer.bytes(from: piece.data.lowerBound, count: piece.data.count)
        buffer.consume(piece.consumed)
      } catch {
        throw .malformed(error.description)
      }
    }
    return ProbeAnswer(status: status, headers: headers, body: body)
  }

  private func readHead(_ buffer: Buffer) async throws(ProbeFailure) -> (Int, Headers, BodyFraming) {
    let fields = HeadIndex()
    while true {
      var scanner = HeadScanner()
      do throws(MessageError) {
        let parsed = try buffer.withSpan { (bytes: Span<UInt8>) throws(MessageError) -> ResponseHead? in
          guard let length = try scanner.end(of: bytes) else { return nil }
          return try ResponseHeadParser.parse(bytes, length: length, to: .get, into: fields)
        }
        if let parsed {
          let headers = buffer.withSpan { bytes in
            Headers(fields.map { .init(name: text(bytes, $0.name), value: text(bytes, $0.value)) })
          }
          buffer.consume(parsed.length)
          if parsed.status >= 200 { return (parsed.status, headers, parsed.body) }
          continue
        }
      } catch {
        throw .malformed(error.description)
      }
      guard buffer.receiveRoom > 0 else { throw .malformed("its head is too long") }
      guard try await receive(buffer) else { throw .incomplete }
    }
  }

  private func text(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String {
    String(decoding: [UInt8](copying: bytes.extracting(range)), as: UTF8.self)
  }

  /// Waits for data. Returns false if the connection has ended or failed.
  private func receive(_ buffer: Buffer) async throws(ProbeFailure) -> Bool {
    while true {
      switch socket.receive(into: buffer) {
      case .moved: return true
      case .wouldBlock: try await wait(.readable)
      case .ended, .failed: return false
      }
    }
  }

  private func wait(_ wanted: Readiness) async throws(ProbeFailure) {
    if await waiter.wait(socket, wanted, until: deadline) == .timedOut { throw .timedOut }
  }
}
