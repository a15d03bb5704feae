import HTTP2
import HTTP2TestSupport
import Proxy
import Reactor
import Telemetry
import Testing
import Time

extension ProxyTests {
  struct RouteTests {
    /// A route for paths that begin with `/route`, and ambiguous paths that begin with `/two`.
    private static func routes(_ configure: (inout PassingRoute) -> Void) -> PassingRoutes {
      var route = PassingRoute()
      configure(&route)
      return PassingRoutes([route]) { path in
        let text = String(decoding: path.indices.map { path[$0] }, as: UTF8.self)
        return text.hasPrefix("/two")
          ? .ambiguous : text.hasPrefix("/route") || text.contains("cept") ? .route(0) : .none
      }
    }

    private static func setup(
      _ upstream: @escaping ScriptedUpstream.Script = ScriptedUpstream.plain, buffer: Int = 0,
      _ configure: @escaping @Sendable (inout PassingRoute) -> Void
    ) -> Bench.Setup {
      Bench.Setup(
        upstream: upstream,
        configure: {
          $0.routes = routes(configure)
          $0.limits.requestBuffer = buffer
          $0.http2 = HTTP2Limits()
        })
    }

    private static func chunked(_ path: String, _ chunks: [String]) -> String {
      "POST \(path) HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        + chunks.map { "\(String($0.utf8.count, radix: 16))\r\n\($0)\r\n" }.joined() + "0\r\n\r\n"
    }

    // MARK: Bodies

    @Test("A body that is announced as too long gets 413 before the upstream sees the request")
    func announced() async throws {
      try await Self.setup { $0.bodyLimit = 4 }.run { _, bench in
        for path in ["/route", "/route/a?b=c"] {
          let response = try await bench.exchange("POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n")
          #expect(response.status == 413)
        }
        let expecting = "POST /route HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"
        #expect(try await bench.exchange(expecting).status == 413)
        #expect(bench.upstream.connections == 0)
        #expect(await bench.count(.body) == 3)
        for request in [
          "POST /route HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 4\r\n\r\nabcd",
          "POST /other HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 5\r\n\r\nabcde",
          "GET /route HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        ] {
          #expect(try await bench.exchange(request).status == 200)
        }
        #expect(bench.upstream.requests.map(\.text) == ["abcd", "abcde", ""])
      }
    }

    @Test("A chunked body gets 413 once it is too long; a buffered one before the upstream sees it")
    func chunks() async throws {
      for buffer in [0, 16_384] {
        try await Self.setup(buffer: buffer) { $0.bodyLimit = 8 }.run { _, bench in
          for chunks in [["abcd", "abcd", "a"], ["abcdabcda"]] {
            let response = try await bench.exchange(Self.chunked("/route", chunks))
            #expect(response.status == 413)
          }
          #expect(bench.upstream.requests.isEmpty)
          if buffer > 0 { #expect(bench.upstream.connections == 0) }
          #expect(await bench.count(.body) == 2)
          let client = try await bench.connect()
          try await client.send(Self.chunked("/route", ["abcd", "abcd"]) + Self.chunked("/other", ["abcd", "abcde"]))
          #expect(try await client.readResponse().text == "/route")
          #expect(try await client.readResponse().text == "/other")
          #expect(bench.upstream.requests.map(\.text) == ["abcdabcd", "abcdabcde"])
        }
      }
    }

    @Test("The upstream gets no byte beyond the limit of a streamed body")
    func streamed() async throws {
      let upstream: ScriptedUpstream.Script = { upstream, peer in
        while try await peer.receive() {}
        upstream.notes.append(String(decoding: peer.received, as: UTF8.self))
      }
      try await Self.setup(upstream) {
        $0.bodyLimit = 100_000
        $0.requestBuffer = 0
      }.run { _, bench in
        let client = try await bench.connect()
        let chunk = String(repeating: "x", count: 50_000)
        try await client.send(Self.chunked("/route", [chunk, chunk, "x"]))
        #expect(try await client.readResponse().status == 413)
        await bench.eventually("the upstream connection has ended") { bench.upstream.notes.count == 1 }
        let count = bench.upstream.notes.first?.utf8.count { $0 == UInt8(ascii: "x") } ?? 0
        #expect(count <= 100_000)
        #expect(bench.upstream.notes.first?.hasSuffix("0\r\n\r\n") == false)
      }
    }

    @Test("Over HTTP/2 a body that is too long gets 413, with and without an announced length")
    func http2() async throws {
      try await Self.setup(buffer: 16_384) { $0.bodyLimit = 4 }.run { _, bench in
        let client = try await bench.connectHTTP2()
        try await client.send(
          .headers(1, Frame.request(method: "POST", path: "/route", ("content-length", "5")), endsStream: false))
        #expect(try await client.answer(1).status == 413)
        try await client.send(.headers(3, Frame.request("POST", "/route"), endsStream: false))
        try await client.send(.data(3, "abcde", endsStream: false))
        #expect(try await client.answer(3).status == 413)
        #expect(bench.upstream.connections == 0)
        try await client.send(.headers(5, Frame.request("POST", "/route"), endsStream: false))
        try await client.send(.data(5, "abcd", endsStream: true))
        #expect(try await client.answer(5).text == "/route")
      }
    }

    @Test("The buffer for a body is that of the route")
    func requestBuffer() async throws {
      try await Self.setup { $0.requestBuffer = 16_384 }.run { _, bench in
        let head = " HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab"
        let client = try await bench.connect()
        try await client.send("POST /route" + head)
        let other = try await bench.connect()
        try await other.send("POST /other" + head)
        await bench.eventually("the other request has a connection") { bench.upstream.connections == 1 }
        try await other.send("cd")
        #expect(try await other.readResponse().text == "/other")
        try await client.send("cd")
        #expect(try await client.readResponse().text == "/route")
      }
    }

    // MARK: Times

    @Test("The times of a route apply to its paths only")
    func times() async throws {
      let silent: ScriptedUpstream.Script = { upstream, peer in
        while true {
          let request = try await upstream.read(peer)
          if request.target.hasPrefix("/route") { _ = try await peer.receive() }
          try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        }
      }
      try await Self.setup(silent) {
        $0.responseTimeout = 30
        $0.bodyTimeout = 50
      }.run { _, bench in
        #expect(try await bench.exchange("GET /route HTTP/1.1\r\nHost: a\r\n\r\n").status == 504)
        let stalled = try await bench.exchange("POST /route HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab")
        #expect(stalled.status == 408)
        #expect(try await bench.exchange("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").status == 200)
      }
      try await Self.setup(silent) { $0.requestTimeout = 30 }.run { _, bench in
        let response = try await bench.exchange("GET /route HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(response.status == 504)
      }
    }

    private static func openTunnel(_ path: String, _ bench: Bench) async throws -> Peer {
      let client = try await bench.connect()
      try await client.send("GET \(path) HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
      let head = try await client.readHead()
      #expect(head.status == 101)
      return client
    }

    @Test("A tunnel has the time of its route")
    func tunnelTime() async throws {
      let echo: ScriptedUpstream.Script = { upstream, peer in
        _ = try await upstream.read(peer)
        try await peer.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
        while let byte = try? await peer.take(count: 1) { try await peer.send(byte) }
      }
      try await Bench.Setup(
        upstream: echo,
        configure: {
          $0.routes = Self.routes { $0.tunnelTimeout = 40 }
          $0.upgrades = ["websocket"]
        }
      ).run { _, bench in
        let other = try await Self.openTunnel("/", bench)
        let ending = try await Self.openTunnel("/route", bench).waitForEnd()
        #expect(ending == .end)
        let count = await bench.count(.tunnelTimeout)
        #expect(count == 1)
        try await other.send("x")
        let answer = try await other.take(count: 1)
        #expect(answer == Array("x".utf8))
      }
    }

    // MARK: Fields

    private static func changes(_ set: [(String, String)], _ removed: [String]) -> FieldChanges {
      var changes = FieldChanges()
      changes.set = set.map { ($0.0, $0.1) }
      changes.removed = removed
      return changes
    }

    @Test("A route sets and removes request fields, in all spellings of their names")
    func requestFields() async throws {
      try await Self.setup { $0.requestFields = Self.changes([("X-Zone", "inner")], ["Accept-Encoding"]) }.run {
        _, bench in
        let fields =
          "X-Zone: a\r\nx-zone: b\r\nX_Zone: c\r\nAccept-Encoding: br\r\nX-Other: d\r\nCookie: __Host-private=1; e=f\r\n"
        for method in ["GET", "POST"] {
          for path in ["/route", "/other", "/intercept/collect"] {
            let body = method == "POST" ? "Content-Length: 2\r\n\r\nab" : "\r\n"
            let request = "\(method) \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + fields + body
            #expect(try await bench.exchange(request).status == 200)
          }
        }
        let requests = bench.upstream.requests
        #expect(requests.count == 6)
        for request in requests {
          switch request.target {
          case "/route":
            #expect(request.all("X-Zone") == ["inner"] && request.all("X_Zone").isEmpty)
            #expect(request.all("Accept-Encoding").isEmpty)
          case "/other":
            #expect(request.all("X-Zone") == ["a", "b"])
            #expect(request.all("Accept-Encoding") == ["br"])
          // A request that the handler makes has no route, although its client's path has one.
          default: #expect(request.all("X-Zone").isEmpty)
          }
          if request.target != "/outbound" { #expect(request["X-Other"] == "d" && request["Cookie"] == "e=f") }
        }
        let client = try await bench.connectHTTP2()
        try await client.send(.headers(1, Frame.request(path: "/route", ("x-zone", "a")), endsStream: true))
        #expect(try await client.answer(1).status == 200)
        #expect(bench.upstream.requests.last?.all("X-Zone") == ["inner"])
      }
    }

    @Test("A head without room for the fields of its route gets 431, and one with room passes whole")
    func room() async throws {
      let value = String(repeating: "v", count: 1_000)
      try await Self.setup { $0.requestFields = Self.changes([("X-Zone", value)], []) }.run { _, bench in
        var passed = 0
        for size in stride(from: 14_000, to: 16_300, by: 97) {
          let line = "GET /route HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Other: "
          let response = try await bench.exchange(line + String(repeating: "o", count: size) + "\r\n\r\n")
          #expect(response.status == 200 || response.status == 431)
          guard response.status == 200 else { continue }
          let request = try #require(bench.upstream.requests.last)
          #expect(request["X-Zone"] == value && request["X-Other"]?.utf8.count == size)
          passed += 1
        }
        #expect(passed > 5)
      }
    }

    @Test("A route sets and removes response fields; the gateway's own fields and changes stay")
    func responseFields() async throws {
      let script = ScriptedUpstream.answering(
        "HTTP/1.1 200 OK\r\nServer: old\r\nCache-Control: public\r\nX_Frame_Options: a\r\nX-Edited: 2\r\nX-Kept: k\r\n"
          + "Set-Cookie: a=b\r\nContent-Length: 2\r\n\r\nok")
      try await Self.setup(script) {
        $0.responseFields = Self.changes(
          [("Cache-Control", "no-store"), ("X-Frame-Options", "DENY"), ("X-Edited", "3")], ["server"])
      }.run { _, bench in
        for cookie in ["", "Cookie: __Host-private=1\r\n"] {
          let tail = " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + cookie + "\r\n"
          let response = try await bench.exchange("GET /route" + tail)
          #expect(response.text == "ok")
          #expect(response.all("Server").isEmpty && response.all("Cache-Control") == ["no-store"])
          #expect(response.all("X-Frame-Options") == ["DENY"] && response.all("X_Frame_Options").isEmpty)
          #expect(response["X-Kept"] == "k" && response["Set-Cookie"] == "a=b")
          // The handler edits the response after the route.
          #expect(response.all("X-Edited") == [cookie.isEmpty ? "3" : "1"])
          let other = try await bench.exchange("GET /other" + tail)
          #expect(other["Server"] == "old" && other["Cache-Control"] == "public")
        }
        let client = try await bench.connectHTTP2()
        try await client.send(.headers(1, Frame.request("GET", "/route"), endsStream: true))
        let answer = try await client.answer(1)
        #expect(answer["cache-control"] == "no-store" && answer["server"] == nil && answer.text == "ok")
        // A relayed response to an intercepted request has no route.
        let relayed = try await bench.exchange("GET /intercept/relay HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(relayed["Cache-Control"] == "public")
      }
    }

    @Test("A switch to another protocol has the response fields of its route")
    func tunnel() async throws {
      let script = ScriptedUpstream.closing(
        after:
          "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\nServer: old\r\n\r\nhello")
      var setup = Self.setup(script) { $0.responseFields = Self.changes([("X-Zone", "z")], ["Server"]) }
      let configure = setup.configure
      setup.configure = {
        configure(&$0)
        $0.upgrades = ["websocket"]
      }
      try await setup.run { _, bench in
        let client = try await bench.connect()
        try await client.send("GET /route HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n")
        let head = try await client.readHead()
        #expect(head.status == 101 && head["X-Zone"] == "z" && head["Server"] == nil)
      }
    }

    // MARK: Paths

    @Test("A path that servers may read as paths of different routes gets 400, and nothing is sent")
    func ambiguous() async throws {
      try await Self.setup { $0.bodyLimit = 4 }.run { _, bench in
        for body in ["\r\n", "Content-Length: 2\r\n\r\nab"] {
          let request = "POST /two HTTP/1.1\r\nHost: a\r\n" + body
          #expect(try await bench.exchange(request).status == 400)
        }
        #expect(bench.upstream.connections == 0)
        let client = try await bench.connect()
        try await client.send("GET /two HTTP/1.1\r\nHost: a\r\n\r\nGET /route HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try await client.readResponse().status == 400)
        #expect(try await client.readResponse().text == "/route")
      }
    }

    @Test("The requests of a connection have the routes of their own paths")
    func changing() async throws {
      try await Self.setup { $0.requestFields = Self.changes([("X-Zone", "inner")], []) }.run { _, bench in
        let client = try await bench.connect()
        for path in ["/route", "/other", "/route/a", "/answer", "/other"] {
          try await client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
          #expect(try await client.readResponse().status == 200)
        }
        #expect(bench.upstream.requests.map { $0["X-Zone"] } == ["inner", nil, "inner", nil])
      }
    }

    @Test("A form that the handler has inspected has its route")
    func inspected() async throws {
      let form = "POST /inspect/route HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\na=1&b=2&c"
      var setup = Self.setup { _ in }
      setup.configure = {
        var route = PassingRoute()
        route.bodyLimit = 8
        $0.routes = PassingRoutes([route]) { _ in .route(0) }
      }
      try await setup.run { _, bench in
        let response = try await bench.exchange(form)
        #expect(response.status == 413)
        #expect(bench.upstream.connections == 0)
      }
    }
  }
}
