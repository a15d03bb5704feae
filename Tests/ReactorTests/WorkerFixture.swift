import Reactor
import Time

/// A worker on a thread of its own that runs the body of a test, so that the body can use sockets, buffers and waiters.
enum OnWorker {
  static func run<Result: Sendable>(
    _ body: @escaping @Sendable (isolated Worker) async throws -> Result
  ) async throws -> Result {
    let worker = try Worker(index: 0)
    try worker.start(name: "test")
    let task = await worker.launch(body)
    let outcome = await task.result
    await worker.stopAccepting()
    await worker.abortConnections()
    await worker.stop()
    return try outcome.get()
  }
}

extension Worker {
  /// Starts a task in the same way as the worker starts its own.
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

/// An activity made from a closure.
final class Script: Activity {
  private let body: () async -> Void

  init(_ body: @escaping () async -> Void) {
    self.body = body
  }

  func run() async {
    await body()
  }
}

extension Poller {
  /// Long enough to never end a wait in a test that passes.
  var patience: Deadline { deadline(after: 120_000) }

  /// Connects without leaving a deadline behind.
  func open(_ address: Address) async throws(ConnectError) -> Socket {
    let waiter = Waiter(self)
    defer { waiter.cancelDeadline() }
    return try await connect(to: address, with: waiter, until: patience)
  }

  /// A connected pair over loopback: the connecting socket and the accepted one.
  func pair(on worker: isolated Worker, _ listener: ListeningSocket) async throws -> (Socket, Socket) {
    let accepted = Accepted(self)
    try worker.accept(listener, group: WorkerGroup([worker])) { socket, _ in accepted.give(socket) }
    let client = try await open(listener.address)
    return (client, await accepted.next())
  }
}

/// Gives accepted sockets to the tasks that wait for them.
final class Accepted {
  private let poller: Poller
  private let waiter: Waiter
  private var sockets: [Socket] = []

  init(_ poller: Poller) {
    self.poller = poller
    waiter = Waiter(poller)
  }

  func give(_ socket: Socket) {
    sockets.append(socket)
    waiter.resume(.ready)
  }

  func next() async -> Socket {
    while sockets.isEmpty { _ = await waiter.sleep(until: poller.patience) }
    waiter.cancelDeadline()
    return sockets.removeFirst()
  }
}

extension Address {
  static func loopback(_ host: String = "127.0.0.1", port: Int = 0) throws -> Address {
    guard let address = Address(literal: host, port: port) else { throw IOError.invalidArgument }
    return address
  }
}
