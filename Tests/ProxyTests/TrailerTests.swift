import HTTP2TestSupport
import Proxy
import Reactor
import Testing
import Time

extension ProxyTests {
  /// Trailers, which pass if both sides can carry them; those of requests only with `forwardsTrailers`. `DesyncTests.chunks`
  /// has those of malformed requests.
  struct TrailerTests {
    private static let passing = "X-Sum: 1\r\nContent-Digest: sha-256=:AA==:\r\n"

    /// Fields that would mean something in a header section.
    private static let meaningful = [
      "Content-Length: 50", "Transfer-Encoding: chunked", "Host: evil", "Trailer: X-Sum", "Connection: close",
      "Keep-Alive: 5", "TE: trailers", "Upgrade: h2c", "Expect: 100-continue", "Via: 1.1 x", "Max-Forwards: 1",
      "Authorization: Basic eA==", "Proxy-Authorization: x", "WWW-Authenticate: Basic", "Cookie: a=b",
      "Set-Cookie: a=b",
      "Set-Cookie2: a=b", "X-Api-Key: 1", "X-CSRF-Token: 1", "ApiKey: 1", "X-ApiKey: 1", "If: (<a>)", "Depth: 0",
      "Overwrite: T", "SOAPAction: x",
      "X-Amz-Security-Token: x", "DPoP: x", "DPoP-Nonce: x", "Content-Type: text/html",
      "Content-Encoding: gzip", "Content-Range: bytes 0-1/2", "Content-Location: /a", "Range: bytes=0-1", "If-Match: a",
      "Cache-Control: no-store", "Age: 1", "Expires: 0", "Vary: *", "Date: x", "Location: /a", "Refresh: 0; url=/a",
      "Link: </a>; rel=preload", "Origin: https://evil", "Referer: https://evil", "X-HTTP-Method-Override: PUT",
      "X-Original-URL: /admin", "X-Forwarded-For: 1.1.1.1", "X-Forwarded-User: root", "Forwarded: for=1.1.1.1",
      "X_Forwarded_For: 1.1.1.1", "X_Sum: 2", "Content_Length: 3", "Access-Control-Allow-Origin: *",
      "Content-Security-Policy: x", "Strict-Transport-Security: max-age=0", "Clear-Site-Data: \"*\"",
      "X-Frame-Options: x", "Sec-Fetch-Site: none", "X-Request-ID: 1",
    ].map { "\($0)\r\n" }.joined()

    /// Fields by which a request claims an identity.
    private static let identities = "Iv-User: root\r\nRemote-User: root\r\nX-SSL-Client-CN: a\r\nX-Badge: 1\r\n"

    /// Notes the whole request, byte for byte, and answers it.
    private static func noting(_ response: String) -> ScriptedUpstream.Script {
      { upstream, peer in
        while true {
          let head = try await peer.take(through: "\r\n\r\n")
          var text = String(decoding: head, as: UTF8.self)
          if text.contains("\r\nTransfer-Encoding: chunked\r\n") {
            text += String(decoding: try await peer.take(through: "\r\n\r\n"), as: UTF8.self)
          } else if text.contains("\r\nContent-Length: 5\r\n") {
            text += String(decoding: try await peer.take(count: 5), as: UTF8.self)
          }
          upstream.notes.append(text)
          try await peer.send(response)
        }
      }
    }

    private static let start = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n"
    private static let empty = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    private static let trailing =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n5\r\nhello\r\n0\r\n"

    @Test(
      "The trailers of a request follow its last chunk, without those that mean something in a header section",
      arguments: [0, 16_384])
    func request(buffer: Int) async throws {
      try await Bench.Setup(
        upstream: Self.noting(Self.empty),
        configure: {
          $0.limits.requestBuffer = buffer
          $0.strippedFields = ["X-Badge"]
          $0.forwardsTrailers = true
        }
      ).run { _, bench in
        let client = try await bench.connect()
        // The fields are in front of the last one, so that a reader that stops early is noticed.
        let fields = Self.meaningful + Self.identities + Self.passing
        try await client.send(
          "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\(fields)\r\n"
            + "GET /next HTTP/1.1\r\nHost: a\r\n\r\n")
        for _ in 0..<2 {
          let response = try await client.readResponse()
          #expect(response.status == 200)
        }
        let note = try #require(bench.upstream.notes.first)
        #expect(note.hasSuffix("\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\(Self.passing)\r\n"))
        #expect(bench.upstream.notes.count == 2 && bench.upstream.notes[1].hasPrefix("GET /next HTTP/1.1\r\n"))
        #expect(bench.upstream.connections == 2)
      }
    }

    @Test(
      "Without `forwardsTrailers`, a request with trailers has the same form as without them",
      arguments: [0, 16_384], [false, true])
    func dropped(buffer: Int, isStreamed: Bool) async throws {
      try await Bench.Setup(
        upstream: Self.noting(Self.empty), configure: { $0.limits.requestBuffer = buffer }
      ).run { _, bench in
        let client = try await bench.connect()
        let rest = "hello\r\n0\r\n\(Self.passing)\r\nGET /next HTTP/1.1\r\nHost: a\r\n\r\n"
        try await client.send(Self.start + (isStreamed ? "" : rest))
        if isStreamed {
          if buffer == 0 { await bench.eventually("the head is upstream") { bench.upstream.connections == 1 } }
          try await client.send(rest)
        }
        for _ in 0..<2 {
          let response = try await client.readResponse()
          #expect(response.status == 200)
        }
        let note = try #require(bench.upstream.notes.first)
        let isChunked = isStreamed && buffer == 0
        #expect(
          note.hasSuffix(
            isChunked
              ? "\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
              : "\r\nContent-Length: 5\r\n\r\nhello"))
        #expect(bench.upstream.notes.count == 2 && bench.upstream.connections == 1)
      }
    }

    /// A faulty server, which adds the trailers of a request to the header section of the next request on the connection.
    /// Notes each header section.
    private static let merging: ScriptedUpstream.Script = { upstream, peer in
      var kept = ""
      while true {
        let head = Message(head: String(decoding: try await peer.take(through: "\r\n\r\n"), as: UTF8.self))
        upstream.notes.append(head.head + kept)
        kept = ""
        if head["Transfer-Encoding"] == nil {
          _ = try await peer.take(count: head["Content-Length"].flatMap { Int($0) } ?? 0)
        } else {
          _ = try await peer.take(through: "\r\n0\r\n")
          while true {
            let line = String(decoding: try await peer.take(through: "\r\n"), as: UTF8.self)
            if line == "\r\n" { break }
            kept += line
          }
          upstream.answered += kept.isEmpty ? 0 : 1
        }
        try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
      }
    }

    /// The ways in which a client sends trailers.
    enum Sender: CaseIterable {
      case whole, streamed, http2
    }

    @Test(
      "A server that adds trailers to the next request on the connection adds them to no request",
      arguments: [false, true], Sender.allCases)
    func merged(forwards: Bool, sender: Sender) async throws {
      try await HTTP2Tests.setup(Self.merging, { $0.forwardsTrailers = forwards }).run { _, bench in
        let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        let own = "POST /intercept/post HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
        // An idle connection that the request with trailers uses.
        _ = try await bench.exchange(get)
        for victim in [get, own, get] {
          switch sender {
          case .http2:
            let client = try await bench.connectHTTP2()
            try await client.send(
              .headers(1, Frame.request("POST", "/"), endsStream: false), .data(1, "hello"),
              .headers(1, [("x-role", "admin")]))
            let response = try await client.answer(1)
            #expect(response.status == 200)
          case .whole, .streamed:
            let client = try await bench.connect()
            let (count, rest) = (bench.upstream.notes.count, "hello\r\n0\r\nX-Role: admin\r\n\r\n")
            try await client.send(Self.start + (sender == .whole ? rest : ""))
            if sender == .streamed {
              await bench.eventually("the head is upstream") { bench.upstream.notes.count > count }
              try await client.send(rest)
            }
            let response = try await client.readResponse()
            #expect(response.status == 200)
          }
          let response = try await bench.exchange(victim)
          #expect(response.status == 200)
        }
        #expect(bench.upstream.notes.count == 7)
        #expect(!bench.upstream.notes.contains { $0.lowercased().contains("x-role") })
        // The server has seen the trailers if they are forwarded, each time on a connection that is then closed.
        #expect(bench.upstream.answered == (forwards ? 3 : 0))
        #expect(bench.upstream.connections == (forwards ? 4 : 1))
      }
    }

    @Test("A connection is used again if all trailers of a request were dropped")
    func noneLeft() async throws {
      try await Bench.Setup(upstream: Self.noting(Self.empty), configure: { $0.forwardsTrailers = true }).run {
        _, bench in
        let client = try await bench.connect()
        for _ in 0..<2 {
          try await client.send(
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\(Self.meaningful)\r\n")
          let response = try await client.readResponse()
          #expect(response.status == 200)
        }
        #expect(bench.upstream.notes.allSatisfy { $0.hasSuffix("\r\n\r\n5\r\nhello\r\n0\r\n\r\n") })
        #expect(bench.upstream.notes.count == 2 && bench.upstream.connections == 1)
      }
    }

    @Test("Trailers are dropped if the head names a field that its `Connection` removes")
    func namedByConnection() async throws {
      let response =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: X-Sum\r\n\r\n5\r\nhello\r\n0\r\n\(Self.passing)\r\n"
      try await Bench.Setup(upstream: Self.noting(response), configure: { $0.forwardsTrailers = true }).run {
        _, bench in
        let client = try await bench.connect()
        try await client.send(
          "POST / HTTP/1.1\r\nHost: a\r\nConnection: TE, X-Sum\r\nTE: trailers\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "5\r\nhello\r\n0\r\n\(Self.passing)\r\n")
        _ = try await client.take(through: "\r\n\r\n")
        let body = try await client.take(through: "\r\n\r\n")
        #expect(String(decoding: body, as: UTF8.self) == "5\r\nhello\r\n0\r\n\r\n")
        #expect(bench.upstream.notes.first?.contains("X-Sum") == false)
      }
    }

    @Test("A small chunked body without trailers, or without data, reaches the server without chunks")
    func length() async throws {
      try await Bench.Setup(
        upstream: Self.noting(Self.empty), configure: { $0.limits.requestBuffer = 16_384 }
      ).run { _, bench in
        let client = try await bench.connect()
        let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        // An HTTP/1.0 server knows no chunks. The first request arrives in pieces.
        for part in [head, "2;x=y\r\nhe\r\n", "3\r\nllo\r\n", "0\r\n", "\r", "\n"] { try await client.send(part) }
        let first = try await client.readResponse()
        try await client.send("\(head)0\r\nX-Sum: 1\r\n\r\n")
        let second = try await client.readResponse()
        #expect(first.status == 200 && second.status == 200)
        #expect(bench.upstream.notes.count == 2)
        #expect(bench.upstream.notes.first?.hasSuffix("\r\nContent-Length: 5\r\n\r\nhello") == true)
        #expect(bench.upstream.notes.last?.hasSuffix("\r\nContent-Length: 0\r\n\r\n") == true)
        #expect(!bench.upstream.notes.contains { $0.contains("ransfer-") })
      }
    }

    @Test(
      "The trailers of a response pass to a client that accepts them",
      arguments: [
        ("1.1", "Connection: TE\r\nTE: trailers\r\n", true),
        ("1.1", "Connection: close, te\r\nTE: deflate;q=0.5 , Trailers\r\n", true),
        ("1.1", "TE: trailers\r\n", false), ("1.1", "Connection: TE\r\nTE: deflate\r\n", false),
        ("1.1", "Connection: TE\r\n", false), ("1.1", "", false),
        ("1.0", "Connection: TE, keep-alive\r\nTE: trailers\r\n", false),
      ])
    func response(version: String, fields: String, accepts: Bool) async throws {
      try await Bench.Setup(
        upstream: Self.noting(Self.trailing + Self.meaningful + Self.passing + "\r\n")
      ).run { _, bench in
        let client = try await bench.connect()
        try await client.send("GET / HTTP/\(version)\r\nHost: a\r\n\(fields)\r\n")
        let head = try await client.readHead()
        #expect(head.status == 200 && head["Trailer"] == nil)
        let body = version == "1.0" ? "hello" : "5\r\nhello\r\n0\r\n\(accepts ? Self.passing : "")\r\n"
        let rest = try await client.take(count: body.utf8.count)
        #expect(String(decoding: rest, as: UTF8.self) == body && client.received.isEmpty)
        let note = bench.upstream.notes.first ?? ""
        #expect(note.contains("\r\nTE: trailers\r\nConnection: TE\r\n") == accepts)
        #expect(note.contains("\r\nTE:") == accepts)
      }
    }

    @Test("The trailers of an intercepted request and of its response are dropped")
    func intercepted() async throws {
      try await Bench.Setup(
        upstream: Self.noting(Self.trailing + Self.passing + "\r\n"), configure: { $0.forwardsTrailers = true }
      ).run { _, bench in
        let client = try await bench.connect()
        try await client.send(
          "POST /intercept/relay HTTP/1.1\r\nHost: a\r\nConnection: TE\r\nTE: trailers\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "5\r\nhello\r\n0\r\n\(Self.passing)\r\n")
        let head = try await client.readHead()
        #expect(head["X-Relayed"] == "1")
        let body = try await client.take(through: "\r\n\r\n")
        #expect(String(decoding: body, as: UTF8.self) == "5\r\nhello\r\n0\r\n\r\n")
        #expect(bench.upstream.notes.count == 1 && bench.upstream.notes.first?.contains("X-Sum") == false)
      }
    }

    @Test("The fields that a route removes or sets are not in the trailers, and a route with `Link` has no early hints")
    func route() async throws {
      let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n"
      let fields = "X_Zone: 1\r\nX-Zone: 2\r\nX-Gone: 3\r\nX-Sum: 4\r\n"
      try await Bench.Setup(
        upstream: Self.noting(hints + Self.trailing + fields + "\r\n"),
        configure: {
          var route = PassingRoute()
          route.requestFields.set = [("X-Zone", "inner")]
          route.requestFields.removed = ["X-Gone"]
          route.responseFields.removed = ["X-Zone", "X-Gone", "Link"]
          $0.routes = PassingRoutes([route]) { _ in .route(0) }
          $0.forwardsTrailers = true
        }
      ).run { _, bench in
        let client = try await bench.connect()
        try await client.send(
          "POST / HTTP/1.1\r\nHost: a\r\nConnection: TE\r\nTE: trailers\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "5\r\nhello\r\n0\r\n\(fields)\r\n")
        let head = try await client.readHead()
        #expect(head.status == 200)
        let rest = try await client.take(through: "\r\n\r\n")
        #expect(String(decoding: rest, as: UTF8.self) == "5\r\nhello\r\n0\r\nX-Sum: 4\r\n\r\n")
        #expect(bench.upstream.notes.first?.hasSuffix("\r\n0\r\nX-Sum: 4\r\n\r\n") == true)
      }
    }

    private static let tooMany: [(String, Int)] = [
      ("X: \(String(repeating: "y", count: 4_089))\r\n", 200), ("X: \(String(repeating: "y", count: 4_090))\r\n", 413),
      (String(repeating: "X:y\r\n", count: 100), 200), (String(repeating: "X:y\r\n", count: 101), 431),
      (String(repeating: "X: yy\r\n", count: 1_000), 413),
    ]

    @Test(
      "Trailers are limited in size and number, in both directions, also if they are dropped", arguments: tooMany,
      [false, true])
    func limits(_ limit: (fields: String, status: Int), forwards: Bool) async throws {
      let (fields, status) = limit
      let script: ScriptedUpstream.Script = { upstream, peer in
        while true {
          let head = try await peer.readHead()
          if head.method == "GET" {
            try await peer.send("\(Self.trailing)\(fields)\r\n")
            continue
          }
          upstream.answered += 1
          if head["Transfer-Encoding"] == nil {
            _ = try await peer.take(count: 5)
          } else {
            _ = try await peer.take(through: "0\r\n")
            _ = try await peer.take(through: forwards ? "\r\n\r\n" : "\r\n")
          }
          upstream.notes.append("whole")
          try await peer.send(Self.empty)
        }
      }
      try await Bench.Setup(upstream: script, configure: { $0.forwardsTrailers = forwards }).run { _, bench in
        for isStreamed in [false, true] {
          let client = try await bench.connect()
          let rest = "hello\r\n0\r\n\(fields)\r\n"
          let answered = bench.upstream.answered
          try await client.send(Self.start + (isStreamed ? "" : rest))
          if isStreamed {
            await bench.eventually("the head is upstream") { bench.upstream.answered > answered }
            try await client.send(rest)
          }
          let response = try await client.readResponse()
          #expect(response.status == status)
        }
        #expect(bench.upstream.notes.isEmpty == (status != 200))
        let response = try? await bench.get("/", "Connection: TE", "TE: trailers")
        #expect((response?.status == 200 && response?.isWhole == true) == (status == 200))
      }
    }

    @Test("A response that ends within its trailers is cut")
    func cut() async throws {
      for part in ["X-Sum: 1", "X-Sum: 1\r\n", "X-Sum: 1\r\n\r", "\r"] {
        try await Bench.Setup(upstream: ScriptedUpstream.closing(after: Self.trailing + part)).run { _, bench in
          let client = try await bench.connect()
          try await client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: TE\r\nTE: trailers\r\n\r\n")
          let rest = try await client.takeRest()
          #expect(!String(decoding: rest, as: UTF8.self).contains("\r\n0\r\n"))
        }
      }
    }

    @Test("Trailers become a field section of HTTP/2, and those of HTTP/2 a trailer section")
    func http2() async throws {
      let long = String(repeating: "a", count: 100_000)
      let answer =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(String(long.utf8.count, radix: 16))\r\n\(long)\r\n0\r\n"
      try await HTTP2Tests.setup(
        Self.noting(answer + Self.meaningful + Self.passing + "\r\n"), { $0.forwardsTrailers = true }
      ).run { _, bench in
        let client = try await bench.connectHTTP2()
        try await client.send(
          .headers(1, Frame.request("POST", "/"), endsStream: false), .data(1, "hello"),
          .headers(
            1,
            [
              ("x-sum", "2"), ("authorization", "Basic x"), ("iv-user", "a"), ("x_sum", "3"), ("cookie", "a=b"),
            ]))
        let response = try await client.answer(1)
        #expect(response.status == 200 && response.isWhole && response.body.count == long.utf8.count)
        #expect(
          response.trailers.map { "\($0.name): \($0.value)" } == ["x-sum: 1", "content-digest: sha-256=:AA==:"])
        let note = try #require(bench.upstream.notes.first)
        #expect(note.hasSuffix("\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nx-sum: 2\r\n\r\n"))
        // The stream object is used again, without the trailers of the last stream.
        try await client.send(
          .headers(3, Frame.request("POST", "/"), endsStream: false), .data(3, "hello", endsStream: true))
        let next = try await client.answer(3)
        #expect(next.trailers.count == 2)
        #expect(bench.upstream.notes.count == 2 && bench.upstream.notes.last?.contains("x-sum") == false)
      }
    }

    @Test("Trailers that arrive later than the body, and byte by byte, end the response")
    func late() async throws {
      let script: ScriptedUpstream.Script = { upstream, peer in
        while true {
          _ = try await peer.readHead()
          try await peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
          while upstream.notes.isEmpty { try await upstream.pause(peer) }
          for byte in Array("0\r\n\(Self.passing)\r\n".utf8) {
            try await peer.send([byte])
            await peer.poller.pause(1)
          }
          upstream.notes = []
        }
      }
      try await HTTP2Tests.setup(script).run { _, bench in
        let client = try await bench.connect()
        try await client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: TE\r\nTE: trailers\r\n\r\n")
        _ = try await client.take(through: "5\r\nhello\r\n")
        bench.upstream.notes = ["seen"]
        let rest = try await client.take(through: "\r\n\r\n")
        #expect(String(decoding: rest, as: UTF8.self) == "0\r\n\(Self.passing)\r\n")
        let other = try await bench.connectHTTP2()
        try await other.send(.get(1, "/"))
        while let frame = try await other.next(), frame.kind != .data {}
        bench.upstream.notes = ["seen"]
        let last = try #require(try await other.next(.headers))
        #expect(last.endsStream && last.stream == 1)
      }
    }

    @Test("A response without trailers that pass ends an HTTP/2 stream with its last DATA frame")
    func nothingLeft() async throws {
      try await HTTP2Tests.setup(Self.noting("\(Self.trailing)Cookie: a\r\n\r\n")).run { _, bench in
        let client = try await bench.connectHTTP2()
        try await client.send(.get(1, "/"))
        let response = try await client.answer(1)
        #expect(response.isWhole && response.text == "hello" && response.trailers.isEmpty)
      }
    }
  }
}
