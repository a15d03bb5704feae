import Foundation
import Reactor
import Synchronization
import Testing
import Time

struct ListeningTests {
  @Test("A port in use is an error, whichever process uses it")
  func addressInUse() throws {
    let first = try ListeningSocket.bind(try .loopback(), count: 2, id: 0)
    defer { for socket in first { socket.close() } }
    let port = try #require(first.first).address.port
    #expect(port > 0)
    #expect(first.map(\.address.port) == [port, port])
    for count in [1, 2] {
      #expect(throws: IOError.addressInUse) {
        _ = try ListeningSocket.bind(try .loopback(port: port), count: count, id: 1)
      }
    }
  }

  @Test("A port can be bound again after its sockets are closed")
  func rebind() throws {
    // An address of its own: no other program takes the port over as soon as it is closed.
    let host = "127.0.76.2"
    let first = try ListeningSocket.bind(try .loopback(host), count: 2, id: 0)
    let port = try #require(first.first).address.port
    for socket in first { socket.close() }
    let second = try ListeningSocket.bind(try .loopback(host, port: port), count: 1, id: 0)
    for socket in second { socket.close() }
  }

  @Test("A listener on all addresses of IPv6 leaves the port free for those of IPv4")
  func families() throws {
    let everyIPv6 = try #require(Address(literal: "::", port: 0))
    // The kernel may choose a port that another program uses with an address of IPv4.
    var isFree = false
    for _ in 0..<50 where !isFree {
      let first = try ListeningSocket.bind(everyIPv6, count: 1, id: 0)
      defer { for socket in first { socket.close() } }
      let port = try #require(first.first).address.port
      let everyIPv4 = try #require(Address(literal: "0.0.0.0", port: port))
      guard let second = try? ListeningSocket.bind(everyIPv4, count: 1, id: 1) else { continue }
      isFree = true
      for socket in second { socket.close() }
    }
    #expect(isFree)
  }

  @Test("The owner and mode of a listener are given to a socket only, and never through a link")
  func link() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("listening-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    func listener(_ name: String, mode: UInt32) -> UnixListener {
      UnixListener(path: "\(folder)/\(name)", mode: mode, owner: nil, peer: .unixSocket)
    }
    func mode(_ name: String) throws -> Int {
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
      return try #require(attributes[.posixPermissions] as? Int)
    }
    let sockets = try ListeningSocket.bind(listener("socket", mode: 0o642), count: 1, id: 0)
    defer { for socket in sockets { socket.close() } }
    #expect(try mode("socket") == 0o642)
    try listener("socket", mode: 0o600).restoreFileMode()
    #expect(try mode("socket") == 0o600)
    try Data().write(to: URL(fileURLWithPath: "\(folder)/file"))
    let before = try mode("file")
    for target in ["file", "socket"] {
      try FileManager.default.createSymbolicLink(atPath: "\(folder)/to-\(target)", withDestinationPath: target)
    }
    for name in ["file", "to-file", "to-socket"] {
      #expect(throws: IOError.exists) { try listener(name, mode: 0o666).restoreFileMode() }
    }
    #expect(try mode("file") == before && mode("socket") == 0o600)
  }

  @Test("Connections are distributed among the workers")
  func spreading() async throws {
    let workers = [try Worker(index: 0), try Worker(index: 1)]
    let group = WorkerGroup(workers)
    let listeners = try ListeningSocket.bind(try .loopback(), count: 2, id: 0)
    for worker in workers {
      try worker.start(name: "spread")
      let listener = listeners[worker.index]
      try await worker.perform { (worker: isolated Worker) throws(IOError) in
        let poller = worker.poller
        try worker.accept(listener, group: group) { socket, _ in
          poller.start(
            Script {
              let waiter = Waiter(poller)
              _ = await waiter.wait(socket, .readable, until: poller.patience)
              waiter.cancelDeadline()
              socket.close()
            })
        }
      }
    }
    let address = try #require(listeners.first).address
    let total = 200
    try await OnWorker.run { worker in
      let poller = worker.poller
      var clients: [Socket] = []
      for _ in 0..<total {
        clients.append(try await poller.open(address))
      }
      // A connection counts after its worker has taken it over.
      let waiter = Waiter(poller)
      while workers.reduce(0, { $0 + $1.connections.count }) < total {
        _ = await waiter.sleep(until: poller.deadline(after: 5))
      }
      #expect(workers.allSatisfy { $0.connections.count > total / 4 })
      for client in clients { client.close() }
      while workers.contains(where: { $0.connections.count > 0 }) {
        _ = await waiter.sleep(until: poller.deadline(after: 5))
      }
      waiter.cancelDeadline()
    }
    for worker in workers { await worker.stopAccepting() }
    for worker in workers { await worker.stop() }
  }

  @Test("A connection to a Unix socket wakes one worker, and none that has stopped to accept")
  func oneWakeUp() async throws {
    let workers = try (0..<4).map { try Worker(index: $0) }
    let group = WorkerGroup(workers)
    let path = "@proofgate-\(UInt64.random(in: 0...UInt64.max))"
    let place = UnixListener(path: path, mode: 0o600, owner: nil, peer: .unixSocket)
    let listeners = try ListeningSocket.bind(place, count: workers.count, id: 0)
    let accepted = Atomic<Int>(0)
    for worker in workers {
      try worker.start(name: "wake")
      let listener = listeners[worker.index]
      try await worker.perform { (worker: isolated Worker) throws(IOError) in
        try worker.accept(listener, group: group) { socket, _ in
          // Closed at once, so that all workers have equally many connections, and none is passed on.
          socket.close()
          accepted.wrappingAdd(1, ordering: .relaxed)
        }
      }
    }
    let count = 50
    let before = await ListeningTests.turns(workers)
    for number in 1...count { try await ListeningTests.connect(path, until: accepted, reaches: number) }
    // One turn for each connection. If each connection woke all workers, there would be four.
    let turns = await ListeningTests.turns(workers) - before
    #expect(turns < UInt64(2 * count), "\(turns) turns for \(count) connections")
    for (index, worker) in workers.dropLast().enumerated() {
      await worker.stopAccepting()
      try await ListeningTests.connect(path, until: accepted, reaches: count + index + 1)
    }
    for worker in workers { await worker.stopAccepting() }
    for worker in workers { await worker.stop() }
  }

  private static func turns(_ workers: [Worker]) async -> UInt64 {
    let sum = Atomic<UInt64>(0)
    for worker in workers { await worker.perform { sum.wrappingAdd($0.poller.turn, ordering: .relaxed) } }
    return sum.load(ordering: .relaxed)
  }

  private static func connect(_ path: String, until accepted: borrowing Atomic<Int>, reaches count: Int) async throws {
    try await OnWorker.run { worker in try worker.poller.connect(toUnixSocket: path).close() }
    for _ in 0..<60_000 where accepted.load(ordering: .relaxed) < count { try await Task.sleep(for: .milliseconds(1)) }
    #expect(accepted.load(ordering: .relaxed) == count)
  }

  @Test("Connections in the kernel's queue are accepted when a worker stops accepting")
  func lastAccepts() async throws {
    let accepted = Atomic<Int>(0)
    try await OnWorker.run { worker in
      // An address of its own: no other program takes the port over as soon as it is closed.
      let address = try Address.loopback("127.0.76.1")
      let listener = try #require(try ListeningSocket.bind(address, count: 1, id: 0).first)
      let poller = worker.poller
      try worker.accept(listener, group: WorkerGroup([worker])) { socket, _ in
        accepted.wrappingAdd(1, ordering: .relaxed)
        socket.close()
      }
      var clients: [Socket] = []
      for _ in 0..<20 {
        clients.append(try await poller.open(listener.address))
      }
      worker.stopAccepting()
      #expect(accepted.load(ordering: .relaxed) == 20)
      do throws(ConnectError) {
        _ = try await poller.open(listener.address)
        Issue.record("a connection to a listener that was closed")
      } catch {
        #expect(error == .failed(.refused))
      }
      for client in clients { client.close() }
    }
  }
}
