import Glibc
import Testing
import Time

@testable import Reactor

struct SocketTests {
  private static func withPair(
    _ body: @escaping @Sendable (Poller, _ client: Socket, _ server: Socket) async throws -> Void
  ) async throws {
    try await OnWorker.run { worker in
      let poller = worker.poller
      let listener = try #require(try ListeningSocket.bind(try .loopback(), count: 1, id: 0).first)
      let (client, server) = try await poller.pair(on: worker, listener)
      try await body(poller, client, server)
      client.close()
      server.close()
    }
  }

  @Test("After a send has met a reset, the arrived bytes are read, and then the receive fails instead of ending")
  func failedSend() async throws {
    try await SocketTests.withPair { poller, client, server in
      let (given, taken) = try (#require(poller.buffers.take()), #require(poller.buffers.take()))
      given.append("abc")
      #expect(server.send(given) == .moved(3))
      server.reset()
      SocketTests.waitForReset(client)
      given.append("de")
      #expect(client.send(given) == .failed(.reset))
      #expect(client.receive(into: taken) == .moved(3))
      #expect(client.receive(into: taken) == .failed(.reset))
      for buffer in [given, taken] { poller.buffers.giveBack(buffer) }
    }
  }

  /// A reset arrives a moment later on a busy machine. Asking for no event reports it and reads nothing.
  private static func waitForReset(_ socket: borrowing Socket) {
    var polled = pollfd(fd: socket.descriptor, events: 0, revents: 0)
    _ = unsafe poll(&polled, 1, 20_000)
  }

  @Test("The acknowledged bytes lag behind those that the peer of a Unix socket has read by at most the unit")
  func acknowledgedOnUnixSocket() async throws {
    try await OnWorker.run { worker in
      let poller = worker.poller
      let path = "@proofgate-\(UInt64.random(in: 0...UInt64.max))"
      let place = UnixListener(path: path, mode: 0o600, owner: nil, peer: .unixSocket)
      let listener = try #require(try ListeningSocket.bind(place, count: 1, id: 0).first)
      let accepted = Accepted(poller)
      try worker.accept(listener, group: WorkerGroup([worker])) { socket, _ in accepted.give(socket) }
      let client = try poller.connect(toUnixSocket: path)
      let server = await accepted.next()
      let unit = server.acknowledgementUnit
      #expect(unit > 0)
      let (head, body) = try (#require(poller.buffers.take()), #require(poller.buffers.take()))
      var sent = 0
      while true {
        head.clear()
        body.clear()
        head.append([UInt8](repeating: 0x61, count: Buffer.capacity))
        body.append([UInt8](repeating: 0x61, count: Buffer.capacity))
        guard case .moved(let count) = server.send(head, then: body, upTo: body.count) else { break }
        sent += count
      }
      var (read, largestLag) = (0, 0)
      while read < sent {
        head.clear()
        guard case .moved(let count) = client.receive(into: head, upTo: 1_000) else { break }
        read += count
        largestLag = max(largestLag, read - server.acknowledged)
      }
      #expect(read == sent && server.acknowledged == sent)
      #expect(largestLag <= unit)
      // Without the unit, the kernel's count would be too late.
      #expect(largestLag > 16_384)
      for buffer in [head, body] { poller.buffers.giveBack(buffer) }
      client.close()
      server.close()
    }
    try await SocketTests.withPair { _, client, _ in #expect(client.acknowledgementUnit == 0) }
  }

  @Test("A broken socket never asks its caller to wait, because a wait for it returns at once")
  func brokenNeverWaits() async throws {
    try await SocketTests.withPair { poller, client, _ in
      let (given, taken) = try (#require(poller.buffers.take()), #require(poller.buffers.take()))
      #expect(client.receive(into: taken) == .wouldBlock)
      client.shutdownWrite()
      given.append("abc")
      #expect(client.send(given) == .failed(.brokenPipe))
      #expect(client.satisfies(.readable))
      #expect(client.receive(into: taken) == .failed(.reset))
      for buffer in [given, taken] { poller.buffers.giveBack(buffer) }
    }
  }

  @Test("Urgent data stays in its place in the stream, and a read that stops before it loses no wake-up")
  func urgent() async throws {
    try await SocketTests.withPair { poller, client, server in
      let waiter = Waiter(poller)
      let (given, taken) = try (#require(poller.buffers.take()), #require(poller.buffers.take()))
      let pieces = [("abc", Int32(0)), ("X", Int32(MSG_OOB)), ("def", Int32(0))]
      for (text, flags) in pieces {
        let bytes = Array(text.utf8)
        let sent = unsafe bytes.withUnsafeBytes {
          unsafe Glibc.send(client.descriptor, $0.baseAddress, $0.count, flags)
        }
        #expect(sent == bytes.count)
      }
      while taken.count < 7 {
        guard await waiter.wait(server, .readable, until: poller.patience) == .ready else { break }
        _ = server.receive(into: taken)
      }
      #expect(taken.bytes(from: 0, count: taken.count) == Array("abcXdef".utf8))
      waiter.cancelDeadline()
      for buffer in [given, taken] { poller.buffers.giveBack(buffer) }
    }
  }

  @Test("A send of more bytes than the buffer has traps, and no byte beyond it leaves the process")
  func oversend() async throws {
    let listener = try #require(try ListeningSocket.bind(try .loopback(), count: 1, id: 0).first)
    let port = listener.address.port
    await #expect(processExitsWith: .failure) { [port = port as Int] in
      try await OnWorker.run { worker in
        let client = try await worker.poller.open(try .loopback(port: port))
        let buffer = try #require(worker.poller.buffers.take())
        buffer.append("abc")
        _ = client.send(buffer, upTo: 4)
      }
    }
    try await OnWorker.run { worker in
      let accepted = Accepted(worker.poller)
      try worker.accept(listener, group: WorkerGroup([worker])) { socket, _ in accepted.give(socket) }
      let server = await accepted.next()
      let buffer = try #require(worker.poller.buffers.take())
      let waiter = Waiter(worker.poller)
      #expect(await waiter.wait(server, .readable, until: worker.poller.patience) == .ready)
      #expect(server.receive(into: buffer) == .ended)
      waiter.cancelDeadline()
      worker.poller.buffers.giveBack(buffer)
      server.close()
    }
  }
}
