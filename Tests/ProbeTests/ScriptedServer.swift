import ClientTestSupport
import Reactor
import Synchronization
import TLS
import TLSTestSupport
import Time

/// A server on loopback that sends the same bytes to each request, on the worker of the test.
final class ScriptedServer {
  private(set) var port = 0
  private(set) var head = ""

  /// - Parameters:
  ///   - certificate: The certificate in `Tests/Certificates`; `nil` for no TLS.
  ///   - answer: The bytes; `nil` to stay silent.
  init(on worker: isolated Worker, certificate: String? = nil, _ answer: [UInt8]?) throws {
    guard let any = Address(literal: "127.0.0.1", port: 0),
      let listener = try ListeningSocket.bind(any, count: 1, id: 0).first
    else { throw IOError.invalidArgument }
    port = listener.address.port
    let poller = worker.poller
    let tls = try certificate.map { try TestCertificates.server([$0]) }
    try worker.accept(listener, group: WorkerGroup([worker])) { socket, _ in
      poller.start(
        Connection {
          let waiter = Waiter(poller)
          defer {
            waiter.cancelDeadline()
            socket.close()
          }
          let deadline = poller.deadline(after: 60_000)
          if let tls {
            guard (try? await tls.accept(socket, with: waiter, gate: HandshakeGate(poller), until: deadline)) != nil
            else { return }
          }
          await self.serve(socket, poller, waiter, answer, deadline)
        })
    }
  }

  private func serve(
    _ socket: Socket, _ poller: Poller, _ waiter: Waiter, _ answer: [UInt8]?, _ deadline: Deadline
  ) async {
    guard let buffer = poller.buffers.take() else { return }
    defer { poller.buffers.giveBack(buffer) }
    var text = ""
    // A TLS handshake that was not expected has no empty line: the server answers its first bytes.
    while !text.contains("\r\n\r\n"), !text.hasPrefix("\u{16}") {
      switch socket.receive(into: buffer) {
      case .moved:
        text += String(decoding: buffer.bytes(from: 0, count: buffer.count), as: UTF8.self)
        buffer.clear()
      case .wouldBlock: _ = await waiter.wait(socket, .readable, until: deadline)
      case .ended, .failed: return
      }
    }
    head = text
    guard let answer else {
      _ = await waiter.sleep(until: deadline)
      return
    }
    var position = 0
    while position < answer.count || !buffer.isEmpty {
      let count = min(buffer.room, answer.count - position)
      buffer.append(answer, in: position..<position + count)
      position += count
      switch socket.send(buffer) {
      case .moved: continue
      case .wouldBlock: _ = await waiter.wait(socket, .writable, until: deadline)
      case .ended, .failed: return
      }
    }
  }

  private final class Connection: Activity {
    private let body: () async -> Void

    init(_ body: @escaping () async -> Void) {
      self.body = body
    }

    func run() async {
      await body()
    }
  }
}

/// Runs a test on a worker with a thread of its own.
enum ProbeWorker {
  struct NoResult: Error {}

  static func run<Value: Sendable>(
    _ body: @escaping @Sendable (isolated Worker) async throws -> Value
  ) async throws -> Value {
    let worker = try Worker(index: 0)
    let result = try await OSThread.run("probe") {
      let result = Mutex<Result<Value, any Error>?>(nil)
      worker.runOnCurrentThread { worker in
        do {
          let value = try await body(worker)
          result.withLock { $0 = .success(value) }
        } catch {
          result.withLock { $0 = .failure(error) }
        }
        worker.stop()
      }
      return result.withLock { $0 }
    }
    guard let result else { throw NoResult() }
    return try result.get()
  }
}
