import HTTP2
import HTTP2TestSupport
import Proxy
import Reactor
import Synchronization
import TLS
import TLSTestSupport
import Telemetry
import Testing
import Time

extension ProxyTests {
  /// The system refuses the memory of buffers.
  struct ShortageTests {
    /// Makes the system refuse the memory of a pool's blocks after some of them. Used on the worker of the pool only.
    private final class Refusals: @unchecked Sendable {
      /// The number of blocks that the system still grants.
      private var granted = 0
      /// True if a block was refused.
      private(set) var hasRefused = false
      private var blocks: [Buffer] = []
      private var isInstalled = false
      private var isActive = false

      /// Takes all free blocks of the pool and its whole reserve, and then grants `count` blocks.
      func begin(_ count: Int, _ pool: BufferPool) {
        if !isInstalled {
          isInstalled = true
          let allocate = unsafe pool.allocate
          unsafe pool.allocate = { size in
            guard self.isActive else { return unsafe allocate(size) }
            self.granted -= 1
            if self.granted < 0 { self.hasRefused = true }
            return unsafe self.granted < 0 ? nil : allocate(size)
          }
        }
        isActive = true
        granted = 0
        takeFree(pool)
        granted = count
        hasRefused = false
      }

      func takeFree(_ pool: BufferPool) {
        while let block = pool.take() { blocks.append(block) }
      }

      func giveBack(_ count: Int, _ pool: BufferPool) {
        for _ in 0..<count { if let block = blocks.popLast() { pool.giveBack(block) } }
      }

      func end(_ pool: BufferPool) {
        isActive = false
        for block in blocks { pool.giveBack(block) }
        blocks = []
      }
    }

    private enum Outcome {
      case served
      /// The request was refused, or the response was cut.
      case failed
      /// A response that looks complete and is not.
      case wrong
    }

    /// A request of a client.
    private struct Attempt: Sendable {
      let name: String
      let run: @Sendable (Bench) async throws -> Outcome
    }

    private static let body = String(repeating: "b", count: 9_000)

    private static func http1(_ request: String, _ expected: Int, then rest: String = "") -> Attempt {
      Attempt(name: String(request.prefix { $0 != "\r\n" })) { bench in
        let client = try await bench.connect()
        defer { client.close() }
        // The gateway may have closed the connection.
        try? await client.send(request)
        if !rest.isEmpty {
          await bench.eventually("the head was received") {
            let isHeld = await bench.counters().bufferBytes > 0
            return isHeld || client.socket.satisfies(.readable)
          }
          try? await client.send(rest)
        }
        let response: Message
        do {
          response = try await client.readResponse()
        } catch Peer.Problem.ended {
          return .failed
        }
        if !response.isWhole || response.status == 503 { return .failed }
        return response.status == 200 && response.body.count == expected ? .served : .wrong
      }
    }

    private static func http2(_ name: String, tls: TLSClient? = nil, _ frames: [Frame], _ expected: Int) -> Attempt {
      Attempt(name: name) { bench in
        let peer = if let tls { try? await bench.connect(tls) } else { try await bench.connect() }
        guard let peer, let client = try? await FrameClient(peer) else { return .failed }
        defer { peer.close() }
        for frame in frames { try? await client.send(frame) }
        let answer: FrameClient.Answer
        do {
          answer = try await client.answer(1)
        } catch Peer.Problem.notSent {
          return .failed
        }
        if !answer.isWhole || answer.reset != nil || answer.status == 503 { return .failed }
        return answer.status == 200 && answer.body.count == expected ? .served : .wrong
      }
    }

    /// Answers every request with 200, and with as many bytes as its target names.
    private static let upstream: ScriptedUpstream.Script = { upstream, peer in
      while true {
        let request = try await peer.readRequest()
        let count = Int(request.target.dropFirst()) ?? 2
        try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n")
        try await peer.send([UInt8](repeating: 0x61, count: count))
      }
    }

    @Test(
      "Whichever blocks the system refuses, only requests fail, nothing is left behind, and the next request is served")
    func everyBlock() async throws {
      let half = String(ShortageTests.body.prefix(4_000))
      let rest = String(ShortageTests.body.dropFirst(4_000))
      let length = "Content-Length: \(ShortageTests.body.utf8.count)\r\n\r\n"
      let post = Frame.headers(1, Frame.request("POST", "/50"), endsStream: false)
      let bodies = [
        post, Frame.data(1, String(ShortageTests.body.prefix(100))), Frame.data(1, ShortageTests.body),
        Frame.data(1, ShortageTests.body + half, endsStream: true),
      ]
      let attempts = [
        ShortageTests.http1("GET /60 HTTP/1.1\r\nHost: a\r\n\r\n", 60),
        ShortageTests.http1("GET /100000 HTTP/1.1\r\nHost: a\r\n\r\n", 100_000),
        ShortageTests.http1("POST /70 HTTP/1.1\r\nHost: a\r\n\(length)\(ShortageTests.body)", 70),
        ShortageTests.http1("POST /70 HTTP/1.1\r\nHost: a\r\n\(length)\(half)", 70, then: rest),
        ShortageTests.http1(
          "POST /71 HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n\(half)", 71,
          then: String(repeating: "c", count: 56_000)),
        ShortageTests.http1("POST /intercept/long/post HTTP/1.1\r\nHost: a\r\n\(length)\(half)", 2, then: rest),
        ShortageTests.http1("POST /inspect HTTP/1.1\r\nHost: a\r\n\(length)\(half)", 2, then: rest),
        ShortageTests.http1("GET /intercept/relay HTTP/1.1\r\nHost: a\r\n\r\n", 2),
        ShortageTests.http1("GET /intercept/collect HTTP/1.1\r\nHost: a\r\n\r\n", 2),
        ShortageTests.http1("GET /answer/large HTTP/1.1\r\nHost: a\r\n\r\n", 1 << 20),
        ShortageTests.http2("HTTP/2 GET", [.get(1, "/100000")], 100_000),
        ShortageTests.http2("HTTP/2 POST", bodies, 50),
      ]
      try await run(attempts)
    }

    @Test("The same over TLS")
    func overTLS() async throws {
      let server = try TestCertificates.server { $0.applicationProtocols = ["h2", "http/1.1"] }
      let tls = try TestCertificates.client(protocols: ["http/1.1", "h2"])
      try await run([ShortageTests.http2("TLS", tls: tls, [.get(1, "/100000")], 100_000)]) {
        $0.listenerTLS = [server]
      }
    }

    private func run(
      _ attempts: [Attempt], _ configure: @escaping @Sendable (inout ProxyConfiguration) -> Void = { _ in }
    ) async throws {
      try await Bench.Setup(
        upstream: ShortageTests.upstream,
        configure: {
          $0.http2 = HTTP2Limits()
          $0.limits.requestBuffer = 48 * 1024
          $0.lingerTimeout = 100
          configure(&$0)
        }
      ).run { _, bench in
        let refusals = Refusals()
        for attempt in attempts {
          var granted = 0
          var isComplete = false
          while !isComplete, granted < 100 {
            await bench.server.update { [granted] in
              $0.pool.closeIdle()
              refusals.begin(granted, $0.poller.buffers)
              // The pool needs no reserve, so that it serves requests as far as the granted blocks suffice.
              $0.poller.buffers.reserveSize = 0
            }
            let outcome = try await attempt.run(bench)
            let wasRefused = Mutex(false)
            await bench.server.update { proxy in
              refusals.end(proxy.poller.buffers)
              wasRefused.withLock { $0 = refusals.hasRefused }
            }
            isComplete = !wasRefused.withLock { $0 }
            #expect(isComplete ? outcome == .served : outcome != .wrong, "\(attempt.name) with \(granted) blocks")
            granted += 1
            await bench.eventually("nothing is left of \(attempt.name) with \(granted - 1) blocks") {
              await bench.server.update { $0.pool.closeIdle() }
              let counters = await bench.counters()
              return counters.connections == 0 && counters.open == 0 && counters.bufferBytes == 0
            }
          }
          // With enough blocks nothing was refused, so each block was refused once.
          #expect(isComplete && granted > 2, "\(attempt.name): \(granted)")
        }
      }
    }

    @Test("While the system refuses memory, requests get 503 and new connections wait; then both are served")
    func refusal() async throws {
      try await Bench.Setup().run { _, bench in
        func request(_ client: Peer) async throws { try await client.send("GET /answer HTTP/1.1\r\nHost: a\r\n\r\n") }
        var clients: [Peer] = []
        for _ in 0..<2 {
          let client = try await bench.connect()
          try await request(client)
          let response = try await client.readResponse()
          #expect(response.status == 200)
          clients.append(client)
        }
        await bench.server.update { $0.poller.parkIdle() }
        await bench.eventually("the connections are parked") { await bench.counters().buffers == 0 }
        let refusals = Refusals()
        await bench.server.update { proxy in
          refusals.begin(0, proxy.poller.buffers)
          refusals.giveBack(3, proxy.poller.buffers)
        }
        let late = try await bench.connect()
        try await request(late)
        await bench.eventually("accepting pauses") { await bench.pauses() == 1 }
        try await request(clients[0])
        let refused = try await clients[0].readResponse()
        #expect(refused.status == 503 && refused["Connection"] == "close")
        clients[0].close()
        // Without a block even for the refusal, the connection ends.
        await bench.eventually("the refused connection has ended") { bench.server.connections == 1 }
        await bench.server.update { refusals.takeFree($0.poller.buffers) }
        try await request(clients[1])
        let rest = try await clients[1].takeRest()
        #expect(rest.isEmpty)
        let count = await bench.count(.bufferMemory)
        #expect(count >= 2 && late.received.isEmpty && bench.server.connections <= 1)
        await bench.server.update { refusals.end($0.poller.buffers) }
        let response = try await late.readResponse()
        #expect(response.text == "answered")
        let next = try await bench.get("/answer")
        #expect(next.status == 200)
      }
    }
  }
}
