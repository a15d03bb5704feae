import HTTP1
import HTTP2
import HTTP2TestSupport
import Proxy
import Reactor
import Telemetry
import Testing
import Time

extension ProxyTests {
  struct LimitTests {
    @Test("A head is refused by the limit that it exceeds, whether or not it is complete")
    func heads() async throws {
      try await Bench.Setup(configure: {
        $0.limits.head.bytes = 2_000
        $0.limits.head.target = 500
        $0.limits.head.fields = 12
      }).run { _, bench in
        let long = String(repeating: "x", count: 600)
        let endless = String(repeating: "x", count: 20_000)
        let fields = { (count: Int) in (0..<count).map { "X-\($0): y\r\n" }.joined() }
        for (status, limit, request) in [
          (414, .targetLength, "GET /\(long) HTTP/1.1\r\nHost: a\r\n\r\n"), (414, .targetLength, "GET /\(endless)"),
          (431, .headerBytes, "GET / HTTP/1.1\r\nHost: a\r\nX: \(long)\(long)\(long)\(long)\r\n\r\n"),
          (431, .headerBytes, "GET / HTTP/1.1\r\nHost: a\r\nX: \(endless)"),
          (431, .headerFields, "GET / HTTP/1.1\r\nHost: a\r\n\(fields(12))\r\n"), (400, nil, endless),
        ] as [(Int, LimitKind?, String)] {
          var before = 0
          if let limit { before = await bench.count(limit) }
          let client = try await bench.connect()
          try? await client.send(request)
          let response = try await client.readResponse()
          #expect(response.status == status && response["Connection"] == "close")
          if let limit {
            let after = await bench.count(limit)
            #expect(after == before + 1, "\(limit)")
          }
        }
        let fits = try await bench.exchange("GET / HTTP/1.1\r\nHost: a\r\n\(fields(11))\r\n")
        #expect(fits.status == 200)
      }
    }

    @Test("A target that alone is longer than a buffer gets 414")
    func endlessTarget() async throws {
      try await Bench.Setup().run { _, bench in
        let client = try await bench.connect()
        try? await client.send("GET /\(String(repeating: "x", count: 30_000)) HTTP/1.1\r\nHost: a\r\n\r\n")
        let response = try await client.readResponse()
        #expect(response.status == 414)
      }
    }

    @Test("A connection announces its last response")
    func requestsPerConnection() async throws {
      try await Bench.Setup(configure: { $0.limits.requestsPerConnection = 3 }).run { _, bench in
        let client = try await bench.connect()
        for number in 1...3 {
          try await client.send("GET /\(number) HTTP/1.1\r\nHost: a\r\n\r\n")
          let response = try await client.readResponse()
          #expect(response.status == 200)
          #expect(response["Connection"] == (number == 3 ? "close" : nil))
        }
        let ending = try await client.waitForEnd()
        #expect(ending == .end)
        let count = await bench.count(.requestsPerConnection)
        #expect(count == 1)
      }
    }

    @Test("A connection above the limit gets 503 at once, and a later one is served when another has ended")
    func connections() async throws {
      try await Bench.Setup(workers: 2, configure: { $0.limits.connections = 4 }).run { _, bench in
        var clients: [Peer] = []
        for _ in 0..<4 {
          let client = try await bench.connect()
          try await client.send("GET /answer HTTP/1.1\r\nHost: a\r\n\r\n")
          let response = try await client.readResponse()
          #expect(response.status == 200)
          clients.append(client)
        }
        let late = try await bench.connect()
        let response = try await late.readResponse()
        #expect(response.status == 503 && response["Connection"] == "close")
        late.close()
        let count = await bench.count(.connections)
        #expect(count == 1)
        clients.removeLast().close()
        await bench.eventually("there is room") { bench.server.connections == 3 }
        let next = try await bench.get("/answer")
        #expect(next.status == 200)
      }
    }

    @Test("Connections are limited by address, or by the first 64 bits for IPv6; proxies and loopback are not counted")
    func connectionsPerAddress() async throws {
      try await Bench.Setup(
        workers: 2, proxyProtocol: true,
        configure: {
          $0.limits.connectionsPerAddress = 2
          $0.trusts = { $0.isLoopback }
        }
      ).run { _, bench in
        func status(_ header: String) async throws -> (Int, Peer) {
          let client = try await bench.connect()
          try await client.send("\(header)\r\nGET /answer HTTP/1.1\r\nHost: a\r\n\r\n")
          return (try await client.readResponse().status, client)
        }
        let header = { (address: String) in
          "PROXY TCP\(address.contains(":") ? 6 : 4) \(address) \(address.contains(":") ? "::1" : "127.0.0.1") 4000 80"
        }
        var kept: [Peer] = []
        for (address, expected) in [
          ("192.0.2.1", 200), ("192.0.2.1", 200), ("192.0.2.1", 429), ("192.0.2.2", 200),
          ("2001:db8:0:1::1", 200), ("2001:db8:0:1:ffff::2", 200), ("2001:db8:0:1::3", 429), ("2001:db8:0:2::1", 200),
          ("127.0.0.9", 200), ("127.0.0.9", 200), ("127.0.0.9", 200),
        ] {
          let (status, client) = try await status(header(address))
          #expect(status == expected, "\(address)")
          kept.append(client)
        }
        let count = await bench.count(.connectionsPerAddress)
        #expect(count == 2)
        kept[0].close()
        await bench.eventually("it is gone") { bench.server.connections < kept.count }
        var again = 0
        await bench.eventually("there is room for the address") {
          again = (try? await status(header("192.0.2.1")).0) ?? 0
          return again == 200
        }
      }
    }

    @Test("An address that holds too many upstream connections gets 429 while few are free, and others are served")
    func requestsPerAddress() async throws {
      try await Bench.Setup(
        upstream: { upstream, peer in
          while true {
            let request = try await upstream.read(peer)
            // The client sends no further request on this connection.
            if request.target == "/wait" { _ = try await upstream.read(peer) }
            try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
          }
        },
        proxyProtocol: true,
        configure: {
          $0.http2 = HTTP2Limits()
          $0.upstreamConnections = 4
          $0.limits.requestsPerAddress = 2
          $0.trusts = { $0.isLoopback }
        }
      ).run { _, bench in
        func connect(_ address: String) async throws -> Peer {
          let peer = try await bench.connect()
          try await peer.send("PROXY TCP4 \(address) 127.0.0.1 4000 80\r\n")
          return peer
        }
        func status(_ address: String) async throws -> Int {
          let peer = try await connect(address)
          try await peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
          return try await peer.readResponse().status
        }
        let client = try await FrameClient(try await connect("192.0.2.1"))
        // One more than the limit: it applies only once a single connection is free.
        for (stream, count) in [(1, 1), (3, 2), (5, 3)] {
          try await client.send(.get(stream, "/wait"))
          await bench.eventually("the request is in progress") { bench.upstream.requests.count == count }
        }
        try await client.send(.get(7, "/"))
        #expect(try await client.answer(7).status == 429)
        #expect(try await status("192.0.2.1") == 429)
        // Another client, and a local process.
        #expect(try await status("192.0.2.2") == 200)
        #expect(try await status("127.0.0.9") == 200)
        #expect(await bench.count(.requestsPerAddress) == 2)
        // The limit no longer applies once the address holds less.
        try await client.send(.reset(1), .reset(3))
        var again = 0
        await bench.eventually("the address is served") {
          again = (try? await status("192.0.2.1")) ?? 0
          return again == 200
        }
      }
    }

    @Test("Without memory no request is started, and requests in progress continue")
    func bufferMemory() async throws {
      try await Bench.Setup(
        upstream: { upstream, peer in
          while true {
            let request = try await upstream.read(peer)
            while request.target == "/held", !upstream.notes.contains("released") { try await upstream.pause(peer) }
            try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
          }
        }, configure: { $0.limits.bufferMemory = 12 * Buffer.capacity }
      ).run { _, bench in
        var held: [Peer] = []
        for _ in 0..<3 {
          let client = try await bench.connect()
          try await client.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
          held.append(client)
          await bench.eventually("it is upstream") { bench.upstream.requests.count == held.count }
        }
        let refused = try await bench.get("/more")
        #expect(refused.status == 503)
        let count = await bench.count(.bufferMemory)
        #expect(count == 1)
        bench.upstream.notes = ["released"]
        for client in held {
          let response = try await client.readResponse()
          #expect(response.text == "ok")
          client.close()
        }
        await bench.eventually("memory is free") { (try? await bench.get("/more").status) == 200 }
      }
    }

    @Test("Proxied requests leave the reserved connections to the gateway's own requests")
    func reserve() async throws {
      try await Bench.Setup(
        upstream: { upstream, peer in
          while true {
            let request = try await upstream.read(peer)
            while request.target == "/held", !upstream.notes.contains("released") { try await upstream.pause(peer) }
            try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
          }
        },
        configure: {
          $0.upstreamConnections = 3
          $0.limits.reservedUpstreamConnections = 1
          $0.queueTimeout = 60
        }
      ).run { _, bench in
        var held: [Peer] = []
        for _ in 0..<2 {
          let client = try await bench.connect()
          try await client.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
          held.append(client)
        }
        await bench.eventually("both are upstream") { bench.upstream.requests.count == 2 }
        for _ in 0..<3 {
          let passing = try await bench.get("/passing")
          #expect(passing.status == 503)
          let own = try await bench.get("/intercept/collect")
          #expect(own.status == 200 && own.text == "ok")
        }
        let count = await bench.count(.upstreamConnections)
        #expect(count == 3)
        bench.upstream.notes = ["released"]
        for client in held {
          let response = try await client.readResponse()
          #expect(response.text == "ok")
        }
        let passing = try await bench.get("/passing")
        #expect(passing.status == 200)
      }
    }

    /// A page that is longer than the buffers between the upstream and a client without credit.
    private static let page = 100_000

    /// Sends a page for requests of the handler, and nothing long for others.
    private static func pages(_ upstream: ScriptedUpstream, _ peer: Peer) async throws {
      while true {
        let request = try await upstream.read(peer)
        let count = request.target == "/outbound" ? page : 2
        try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n")
        try await peer.send([UInt8](repeating: 0x61, count: count))
      }
    }

    @Test("Pages that a client does not read hold no reserved connection, and not too many others")
    func unreadPages() async throws {
      for (reserved, perAddress) in [(1, 100), (0, 1)] {
        try await Bench.Setup(
          upstream: Self.pages, proxyProtocol: true,
          configure: {
            $0.http2 = HTTP2Limits()
            $0.upstreamConnections = 4
            $0.limits.reservedUpstreamConnections = reserved
            $0.limits.requestsPerAddress = perAddress
            $0.queueTimeout = 60
            $0.trusts = { $0.isLoopback }
          }
        ).run { _, bench in
          func connect(_ address: String, settings: [(Int, Int)] = []) async throws -> FrameClient {
            let peer = try await bench.connect()
            try await peer.send("PROXY TCP4 \(address) 127.0.0.1 4000 80\r\n")
            return try await FrameClient(peer, settings: settings)
          }
          let idle = try await connect("192.0.2.1", settings: [(4, 0)])
          idle.givesCredit = false
          let streams = Array(stride(from: 1, to: 20, by: 2))
          for (index, stream) in streams.enumerated() {
            try await idle.send(.get(stream, "/intercept/relay"))
            await bench.eventually("the page is sent") { bench.upstream.requests.count == index + 1 }
            try #require(bench.upstream.requests.count == index + 1, "\(reserved)")
          }
          let other = try await connect("192.0.2.2")
          for stream in [1, 3, 5] {
            try await other.send(.get(stream, "/intercept/relay"))
            let answer = try await other.answer(stream)
            #expect(answer.status == 200 && answer.body.count == Self.page && answer["x-relayed"] == "1", "\(reserved)")
          }
          // All pages are whole once the client reads them.
          idle.givesCredit = true
          for stream in streams { try await idle.send(.window(stream, Self.page)) }
          try await idle.send(.window(0, streams.count * Self.page))
          let answers = try await idle.answers(streams)
          #expect(answers.count == streams.count)
          #expect(answers.values.allSatisfy { $0.status == 200 && $0.isWhole && $0.body.count == Self.page })
          #expect(await bench.count(.upstreamConnections) == 0)
        }
      }
    }

    @Test("A page that is too long to be collected is refused if only a reserved connection could wait for its client")
    func longPage() async throws {
      try await Bench.Setup(
        upstream: Self.pages,
        configure: {
          $0.http2 = HTTP2Limits()
          $0.upstreamConnections = 2
          $0.limits.reservedUpstreamConnections = 1
          $0.collectedBodyLimit = Self.page - 1
        }
      ).run { _, bench in
        let client = try await bench.connectHTTP2(settings: [(4, 0)])
        client.givesCredit = false
        try await client.send(.get(1, "/intercept/relay"))
        await bench.eventually("the page is sent") { bench.upstream.requests.count == 1 }
        let refused = try await bench.get("/intercept/relay")
        #expect(refused.status == 503)
        #expect(await bench.count(.upstreamConnections) == 1)
        try await client.send(.reset(1))
        await bench.eventually("the page is relayed") {
          (try? await bench.get("/intercept/relay"))?.body.count == Self.page
        }
      }
    }

    @Test("A client that sends single bytes slowly does not keep an upstream connection")
    func slowUpload() async throws {
      try await Bench.Setup(configure: {
        $0.limits.rateWindow = 200
        $0.limits.minimumRate = 10_000
      }).run { worker, bench in
        let client = try await bench.connect()
        try await client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n")
        let deadline = worker.poller.patience
        // Each byte comes well within the time in which a body must make progress.
        while client.ending == nil, await bench.count(.minimumRate) == 0, worker.poller.now < deadline {
          try? await client.send("x")
          await worker.poller.pause(10)
        }
        let response = try await client.readResponse()
        #expect(response.status == 408)
        let count = await bench.count(.minimumRate)
        #expect(count == 1)
        await bench.eventually("its connection is let go") { await bench.counters().open == 0 }
      }
    }

    /// In bytes: more than all buffers between an upstream and a client.
    private static let much = 20_000_000

    @Test("A client that reads single bytes slowly does not keep an upstream connection, one that reads on gets all")
    func slowDownload() async throws {
      try await Bench.Setup(
        upstream: ScriptedUpstream.sending(Self.much),
        configure: {
          $0.limits.rateWindow = 200
          $0.limits.minimumRate = 10_000
        }
      ).run { _, bench in
        let idle = try await bench.connect()
        try await idle.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await bench.eventually("it is cut") { await bench.count(.minimumRate) == 1 }
        await bench.eventually("its connection is let go") { await bench.counters().open == 0 }
        // On a busy machine a client that reads on may pause for longer than the window of the first one.
        await bench.reload { $0.limits.rateWindow = 5_000 }
        let response = try await bench.get("/")
        #expect(response.body.count == Self.much && response.isWhole)
        let count = await bench.count(.minimumRate)
        #expect(count == 1)
      }
    }

    @Test("A client that reads nothing is cut at the body timeout, which does not count as the upstream's")
    func stoppedReader() async throws {
      try await Bench.Setup(
        upstream: ScriptedUpstream.sending(Self.much), configure: { $0.bodyTimeout = 100 }
      ).run { _, bench in
        let idle = try await bench.connect()
        try await idle.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await bench.eventually("it is cut") { await bench.count(.bodyTimeout) == 1 }
        await bench.eventually("its connection is let go") { await bench.counters().open == 0 }
        let count = await bench.count(.responseTimeout)
        #expect(count == 0)
        #expect(try await idle.readResponse().isWhole == false)
      }
    }

    @Test("A request has a total time limit")
    func requestTimeout() async throws {
      try await Bench.Setup(
        upstream: { upstream, peer in
          let request = try await upstream.read(peer)
          defer { upstream.notes.append("over") }
          guard request.target == "/begun" else {
            _ = try await peer.waitForEnd()
            return
          }
          try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
          // Single bytes count as progress. The send fails after the proxy has closed the connection.
          while true {
            try await peer.send("x")
            await peer.poller.pause(10)
          }
        }, configure: { $0.limits.requestTimeout = 1_000 }
      ).run { _, bench in
        let (silent, begun) = (try await bench.connect(), try await bench.connect())
        try await silent.send("GET /silent HTTP/1.1\r\nHost: a\r\n\r\n")
        try await begun.send("GET /begun HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try await silent.readResponse().status == 504)
        let part = try await begun.readResponse()
        #expect(part.status == 200 && !part.isWhole)
        let count = await bench.count(.requestTimeout)
        #expect(count == 2)
        await bench.eventually("the upstream has seen the end of both") { bench.upstream.notes.count == 2 }
      }
    }

    @Test("Every deadline and body limit of a client is counted")
    func counted() async throws {
      try await Bench.Setup(configure: {
        $0.headerTimeout = 1_000
        $0.bodyTimeout = 1_000
        $0.idleTimeout = 1_000
      }).run { _, bench in
        var clients: [Peer] = []
        var expected: [LimitKind: Int] = [:]
        for (limit, request) in [
          (.headerTimeout, "GET / HT"), (.bodyTimeout, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1"),
          (.bodyTimeout, "POST /intercept HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1"),
          (.body, "POST /intercept HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n"),
          (.idleTimeout, "GET /answer HTTP/1.1\r\nHost: a\r\n\r\n"), (.headerTimeout, ""),
        ] as [(LimitKind, String)] {
          let client = try await bench.connect()
          try await client.send(request)
          clients.append(client)
          expected[limit, default: 0] += 1
        }
        for client in clients { _ = try await client.waitForEnd() }
        for (limit, count) in expected {
          await bench.eventually("\(limit) is counted") { await bench.count(limit) == count }
        }
      }
    }
  }
}
