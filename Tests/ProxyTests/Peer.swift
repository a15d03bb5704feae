import Reactor
import TLS
import Time

/// One end of a raw TCP connection, client or upstream, scripted by a test.
final class Peer {
  enum Ending: Equatable {
    case end
    case reset
  }

  enum Problem: Error {
    case timedOut
    /// The other side ended before the expected bytes arrived.
    case ended(Ending)
    case notSent(IOError)
  }

  let socket: Socket
  let poller: Poller
  private let waiter: Waiter
  private var isInHandshake = false
  private var bytes: [UInt8] = []
  /// The number of bytes of `bytes` that were taken.
  private var taken = 0
  private(set) var ending: Ending?

  init(_ socket: Socket, _ poller: Poller) {
    self.socket = socket
    self.poller = poller
    waiter = Waiter(poller)
  }

  /// Performs the server's side of a TLS handshake. It fails when this peer is closed meanwhile.
  func accept(_ tls: TLSServer) async throws {
    isInHandshake = true
    defer { isInHandshake = false }
    _ = try await tls.accept(socket, with: waiter, gate: HandshakeGate(poller), until: poller.patience)
  }

  // MARK: Sending

  func send(_ text: String) async throws {
    try await send(Array(text.utf8))
  }

  func send(_ bytes: [UInt8]) async throws {
    guard let buffer = poller.buffers.take() else { throw IOError.noMemory }
    defer { poller.buffers.giveBack(buffer) }
    var position = 0
    while true {
      let count = min(buffer.room, bytes.count - position)
      buffer.append(bytes, in: position..<position + count)
      position += count
      if buffer.isEmpty { return }
      switch socket.send(buffer) {
      case .moved: continue
      case .wouldBlock:
        if await waiter.wait(socket, .writable, until: poller.patience) == .timedOut { throw Problem.timedOut }
      case .ended: throw Problem.ended(.end)
      case .failed(let error): throw Problem.notSent(error)
      }
    }
  }

  // MARK: Receiving

  /// Receives once; false if the other side has ended.
  func receive() async throws -> Bool {
    if ending != nil { return false }
    guard let buffer = poller.buffers.take() else { throw IOError.noMemory }
    defer { poller.buffers.giveBack(buffer) }
    while true {
      if await waiter.wait(socket, .readable, until: poller.patience) == .timedOut { throw Problem.timedOut }
      switch socket.receive(into: buffer) {
      case .moved(let count):
        bytes += buffer.bytes(from: 0, count: count)
        return true
      case .wouldBlock: continue
      case .ended:
        ending = .end
        return false
      case .failed:
        ending = .reset
        return false
      }
    }
  }

  /// The bytes that were received and not yet taken.
  var received: ArraySlice<UInt8> { bytes[taken...] }

  /// Takes all bytes up to and including `mark`.
  func take(through mark: String) async throws -> [UInt8] {
    let mark = Array(mark.utf8)
    var from = taken
    while true {
      var position = from
      while position + mark.count <= bytes.count {
        if bytes[position] == mark[0], bytes[position..<position + mark.count].elementsEqual(mark) {
          return take(position + mark.count - taken)
        }
        position += 1
      }
      from = max(taken, bytes.count - mark.count)
      if !(try await receive()) { throw Problem.ended(ending ?? .end) }
    }
  }

  func take(count: Int) async throws -> [UInt8] {
    while received.count < count {
      if !(try await receive()) { throw Problem.ended(ending ?? .end) }
    }
    return take(count)
  }

  private func take(_ count: Int) -> [UInt8] {
    let part = Array(bytes[taken..<taken + count])
    taken += count
    if taken == bytes.count {
      bytes = []
      taken = 0
    }
    return part
  }

  /// Takes all bytes until the other side ends.
  func takeRest() async throws -> [UInt8] {
    while try await receive() {}
    return take(received.count)
  }

  /// Waits for the other side to end and returns the kind of its end.
  func waitForEnd() async throws -> Ending {
    _ = try await takeRest()
    return ending ?? .end
  }

  // MARK: Messages

  func readHead() async throws -> Message {
    Message(head: String(decoding: try await take(through: "\r\n\r\n"), as: UTF8.self))
  }

  /// Reads a request with its body.
  func readRequest() async throws -> Message {
    var message = try await readHead()
    if message["Transfer-Encoding"] == "chunked" {
      message.body = try await readChunks()
    } else if let length = message["Content-Length"].flatMap({ Int($0) }) {
      message.body = try await take(count: length)
    }
    return message
  }

  /// Reads a final response with as much of its body as arrives.
  func readResponse(to method: String = "GET") async throws -> Message {
    var message = try await readHead()
    while message.status == 100 || message.status == 103 { message = try await readHead() }
    if method == "HEAD" || message.status == 204 || message.status == 304 || message.status == 101 { return message }
    do {
      if message["Transfer-Encoding"] == "chunked" {
        message.body = try await readChunks()
      } else if let length = message["Content-Length"].flatMap({ Int($0) }) {
        message.body = try await take(count: length)
      } else {
        message.body = try await takeRest()
        message.isWhole = ending == .end
      }
    } catch Problem.ended {
      message.isWhole = false
    }
    return message
  }

  private func readChunks() async throws -> [UInt8] {
    var body: [UInt8] = []
    while true {
      let line = String(decoding: try await take(through: "\r\n").dropLast(2), as: UTF8.self)
      guard let size = Int(line.prefix { $0 != ";" }, radix: 16) else { throw Problem.ended(.end) }
      if size == 0 {
        while try await take(through: "\r\n").count > 2 {}
        return body
      }
      body += try await take(count: size + 2).dropLast(2)
    }
  }

  // MARK: Ending

  func shutdownWrite() { socket.shutdownWrite() }

  func reset() {
    socket.reset()
    release()
  }

  func close() {
    socket.close()
    release()
  }

  /// Ends a script that waits for this connection.
  private func release() {
    waiter.resume(isInHandshake ? .timedOut : .ready)
    waiter.cancelDeadline()
  }
}

extension Poller {
  /// Long enough to never end a wait in a test that passes.
  var patience: Deadline { deadline(after: 120_000) }
}
