import OAuth
import Reactor
import Synchronization
import TLS
import TLSTestSupport
import Time

@testable import ClientDocuments

/// A server of documents on loopback that follows the script of a test. It runs on the worker of the test.
final class DocumentServer {
  typealias Script = @Sendable (DocumentServer, Connection) async -> Void

  private(set) var address: Address
  /// The number of TCP connections.
  private(set) var connections = 0
  /// The heads of the requests.
  private(set) var requests: [String] = []

  /// Runs the script for each connection after its TLS handshake.
  ///
  /// - Parameter certificate: The certificate in `Tests/Certificates`; `nil` to run the script without a handshake.
  init(on worker: isolated Worker, certificate: String? = "gateway", _ script: @escaping Script) throws {
    guard let any = Address(literal: "127.0.0.1", port: 0),
      let listener = try ListeningSocket.bind(any, count: 1, id: 0).first
    else { throw IOError.invalidArgument }
    address = listener.address
    let poller = worker.poller
    let tls = try certificate.map { try TestCertificates.server([$0]) }
    try worker.accept(listener, group: WorkerGroup([worker])) { socket, _ in
      self.connections += 1
      let connection = Connection(socket, poller)
      poller.start(
        ConnectionTask {
          defer { connection.close() }
          if let tls {
            let waiter = Waiter(poller)
            defer { waiter.cancelDeadline() }
            let deadline = poller.deadline(after: 60_000)
            guard (try? await tls.accept(socket, with: waiter, gate: HandshakeGate(poller), until: deadline)) != nil
            else { return }
          }
          await script(self, connection)
        })
    }
  }

  /// Reads the head of a request and records it.
  func read(_ connection: Connection) async {
    requests.append(await connection.head())
  }

  /// Sends the response to each request.
  static func answering(_ response: [UInt8]) -> Script {
    { server, connection in
      await server.read(connection)
      _ = await connection.send(response)
    }
  }

  /// A connection whose bytes a script sends and receives.
  final class Connection {
    private let socket: Socket
    private let poller: Poller
    private let waiter: Waiter

    init(_ socket: Socket, _ poller: Poller) {
      self.socket = socket
      self.poller = poller
      waiter = Waiter(poller)
    }

    /// Sends the bytes. Returns false if the connection has ended.
    func send(_ bytes: [UInt8]) async -> Bool {
      guard let buffer = poller.buffers.take() else { return false }
      defer { poller.buffers.giveBack(buffer) }
      var position = 0
      while true {
        let count = min(buffer.room, bytes.count - position)
        buffer.append(bytes, in: position..<position + count)
        position += count
        if buffer.isEmpty { return true }
        switch socket.send(buffer) {
        case .moved: continue
        case .wouldBlock: _ = await waiter.wait(socket, .writable, until: poller.deadline(after: 60_000))
        case .ended, .failed: return false
        }
      }
    }

    /// Receives bytes until the end of a head, or until the client ends.
    func head() async -> String {
      guard let buffer = poller.buffers.take() else { return "" }
      defer { poller.buffers.giveBack(buffer) }
      var text = ""
      while !text.contains("\r\n\r\n") {
        switch socket.receive(into: buffer) {
        case .moved:
          text += String(decoding: buffer.bytes(from: 0, count: buffer.count), as: UTF8.self)
          buffer.clear()
        case .wouldBlock: _ = await waiter.wait(socket, .readable, until: poller.deadline(after: 60_000))
        case .ended, .failed: return text
        }
      }
      return text
    }

    func pause(_ time: Milliseconds) async { _ = await waiter.sleep(until: poller.deadline(after: time)) }

    func close() {
      waiter.cancelDeadline()
      socket.close()
    }
  }

  private final class ConnectionTask: Activity {
    private let body: () async -> Void

    init(_ body: @escaping () async -> Void) {
      self.body = body
    }

    func run() async {
      await body()
    }
  }
}

/// The answers of a name server, in their order; the last one stays.
final class NameAnswers: Sendable {
  private struct State: Sendable {
    var answers: [[Address]]
    var lookUps = 0
  }

  private let state: Mutex<State>

  init(_ answers: [Address]...) {
    state = Mutex(State(answers: answers))
  }

  /// The number of look-ups.
  var lookUps: Int { state.withLock { $0.lookUps } }

  func resolver(_ host: String, _ port: Int) -> Resolver {
    Resolver(host: host, port: port) { _, _ in
      self.state.withLock { state in
        state.lookUps += 1
        return .success(state.answers.count > 1 ? state.answers.removeFirst() : state.answers[0])
      }
    }
  }
}

/// Runs the bodies of tests on workers.
enum FetchWorker {
  /// Runs each body as a task of one worker, all at the same time, and returns the results.
  static func run<Result: Sendable>(
    _ bodies: [@Sendable (isolated Worker) async throws -> Result]
  ) async throws -> [Result] {
    let worker = try Worker(index: 0)
    try worker.start(name: "fetch")
    var tasks: [Task<Result, any Error>] = []
    for body in bodies { tasks.append(await worker.launch(body)) }
    var outcomes: [Swift.Result<Result, any Error>] = []
    for task in tasks { outcomes.append(await task.result) }
    await worker.stopAccepting()
    await worker.abortConnections()
    await worker.stop()
    return try outcomes.map { try $0.get() }
  }

  /// Runs the body on a worker.
  static func run(_ body: @escaping @Sendable (isolated Worker) async throws -> Void) async throws {
    _ = try await run([body])
  }
}

extension Worker {
  /// Starts a task of this worker.
  func launch<Result: Sendable>(
    _ body: @escaping @Sendable (isolated Worker) async throws -> Result
  ) -> Task<Result, any Error> {
    Task.immediate { try await self.script(body) }
  }

  private func script<Result: Sendable>(
    _ body: @Sendable (isolated Worker) async throws -> Result
  ) async throws -> Result {
    try await body(self)
  }
}
