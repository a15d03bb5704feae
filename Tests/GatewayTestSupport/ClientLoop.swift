import Demo
public import HTTP
public import LegacyServer
import Reactor
public import TLS
import Time

/// The event loop that carries the requests of tests: one thread for the whole process, asleep while no request runs.
public struct ClientLoop: Sendable {
  private let worker: Worker

  /// Throws if the process has no threads or descriptors left.
  private init() throws(IOError) {
    worker = try Worker(index: 0)
    try worker.start(name: "client")
  }

  private static let shared = Result { () throws(IOError) in try ClientLoop() }

  /// Sends a request to a loopback address and returns the response.
  ///
  /// Throws `IOError` or `LoopbackClient.Failure`.
  public static func send(
    _ address: WebAddress, _ request: Request, tls: TLSClient? = nil
  ) async throws -> Response {
    let loop = try shared.get()
    if let tls { return try await loop.worker.send(address, request, tls) }
    return try await loop.worker.send(address, request)
  }

  /// Sends the bytes unchanged and returns all bytes that the server sends until it ends the connection.
  public static func sendRaw(_ bytes: [UInt8], toPort port: Int) async throws -> [UInt8] {
    let loop = try shared.get()
    return try await loop.worker.sendRaw(bytes, toPort: port)
  }
}

extension Worker {
  fileprivate func send(_ address: WebAddress, _ request: Request) async throws(LoopbackClient.Failure) -> Response {
    try await LoopbackClient(poller, timeout: 600_000).send(address, request)
  }

  fileprivate func send(_ address: WebAddress, _ request: Request, _ tls: TLSClient) async throws -> Response {
    guard let target = Address(literal: address.host, port: address.port) else { throw IOError.invalidArgument }
    let waiter = Waiter(poller)
    defer { waiter.cancelDeadline() }
    let deadline = poller.deadline(after: 600_000)
    let socket = try await poller.connect(to: target, with: waiter, until: deadline)
    defer { socket.close() }
    try await tls.connect(socket, with: waiter, gate: HandshakeGate(poller), until: deadline)
    let exchange = LoopbackConnection(socket, waiter, poller.buffers, deadline)
    try await exchange.write(request, to: address)
    return try await exchange.readResponse(isHeadRequest: request.method == "HEAD")
  }

  fileprivate func sendRaw(_ bytes: [UInt8], toPort port: Int) async throws -> [UInt8] {
    guard let target = Address(literal: "127.0.0.1", port: port) else { return [] }
    let waiter = Waiter(poller)
    defer { waiter.cancelDeadline() }
    let deadline = poller.deadline(after: 600_000)
    let socket = try await poller.connect(to: target, with: waiter, until: deadline)
    defer { socket.close() }
    guard let buffer = poller.buffers.take() else { throw IOError.noMemory }
    defer { poller.buffers.giveBack(buffer) }
    guard let input = poller.buffers.take() else { throw IOError.noMemory }
    defer { poller.buffers.giveBack(input) }
    var received: [UInt8] = []
    var position = 0
    // The server may respond before it has the whole request, and then it does not read the rest.
    while position < bytes.count || !buffer.isEmpty {
      let count = min(buffer.room, bytes.count - position)
      if count > 0 { buffer.append(bytes, in: position..<position + count) }
      position += count
      switch socket.send(buffer) {
      case .moved: continue
      case .wouldBlock:
        switch socket.receive(into: input) {
        case .moved:
          received += input.bytes(from: 0, count: input.count)
          input.consume(input.count)
        case .wouldBlock:
          let readiness: Readiness = [.readable, .writable]
          if await waiter.wait(socket, readiness, until: deadline) == .timedOut { return received }
        case .ended, .failed: return received
        }
      case .ended, .failed:
        position = bytes.count
        buffer.consume(buffer.count)
      }
    }
    while true {
      switch socket.receive(into: input) {
      case .moved:
        received += input.bytes(from: 0, count: input.count)
        input.consume(input.count)
      case .wouldBlock: if await waiter.wait(socket, .readable, until: deadline) == .timedOut { return received }
      case .ended, .failed: return received
      }
    }
  }
}
