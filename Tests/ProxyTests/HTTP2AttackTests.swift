import HTTP2
import HTTP2TestSupport
import Proxy
import Reactor
import Testing
import Time

extension ProxyTests {
  struct HTTP2AttackTests {
    private static let long = "/" + String(repeating: "a", count: 9_000)
    private static let longer = String(repeating: "y", count: 16_300)

    private static let refusals: [(Int, [(String, String)])] = [
      (400, Frame.request(authority: "u@a")),
      (400, Frame.request(authority: "a:b")),
      (400, Frame.request(authority: "a/b")),
      (400, Frame.request(authority: nil)),
      (400, Frame.request(path: "/#x")),
      (400, Frame.request(path: "/\u{e9}")),
      (400, Frame.request(path: "*")),
      (400, Frame.request(("transfer_encoding", "chunked"))),
      (400, Frame.request(("content_length", "5"))),
      (405, Frame.request(method: "TRACE")),
      (405, Frame.request(method: "CONNECT", scheme: nil, path: nil, authority: "a:443")),
      (414, Frame.request(path: long)),
      (417, Frame.request(("expect", "x"))),
      (431, Frame.request(("x", longer))),
      (508, Frame.request(("via", "1.1 proofgate"))),
      (431, Frame.request() + [(String, String)](repeating: ("x", "y"), count: 101)),
    ]

    @Test(
      "A request that the HTTP/1.1 parser refuses is also refused over HTTP/2, without the upstream (attack class 9)",
      arguments: refusals)
    func refused(_ status: Int, _ fields: [(String, String)]) async throws {
      try await HTTP2Tests.setup().run { _, bench in
        let client = try await bench.connectHTTP2()
        try await client.send(.headers(1, fields), .get(3, "/answer"))
        let answers = try await client.answers([1, 3])
        #expect(answers[1]?.status == status || answers[1]?.reset == 1)
        #expect(answers[3]?.text == "answered")
        let counters = await bench.counters()
        #expect(counters.opened == 0)
        #expect(bench.upstream.connections == 0)
      }
    }

    @Test("No part of a body is ever read as a request (attack class 9)")
    func smuggling() async throws {
      try await HTTP2Tests.setup().run { _, bench in
        let client = try await bench.connectHTTP2()
        let smuggled = "0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
        try await client.send(
          .headers(1, Frame.request("POST", "/1"), endsStream: false), .data(1, smuggled),
          .data(1, smuggled, endsStream: true),
          .headers(3, Frame.request("POST", "/3") + [("content-length", "\(smuggled.utf8.count)")], endsStream: false),
          .data(3, smuggled, endsStream: true),
          .headers(5, Frame.request("POST", "/5") + [("content-length", "0")], endsStream: false),
          .data(5, smuggled, endsStream: true),
          .headers(7, Frame.request("POST", "/7") + [("content-length", "1")], endsStream: false),
          .data(7, smuggled, endsStream: true), .get(9, "/9"))
        let answers = try await client.answers([1, 3, 5, 7, 9])
        #expect(answers[1]?.status == 200 && answers[3]?.status == 200 && answers[9]?.status == 200)
        #expect(answers[5]?.reset == 1 && answers[7]?.reset == 1)
        let targets = Set(bench.upstream.requests.map(\.target))
        #expect(!targets.contains("/smuggled") && targets.isSubset(of: ["/1", "/3", "/5", "/9"]))
        #expect(bench.upstream.requests.first { $0.target == "/3" }?.text == smuggled)
        #expect(bench.upstream.requests.first { $0.target == "/1" }?.text == smuggled + smuggled)
      }
    }

    @Test("A malformed response of the upstream gives 502 on its stream only (attack class 9)")
    func malformedResponse() async throws {
      for response in [
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\n",
        "HTTP/2.0 200\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n",
      ] {
        try await HTTP2Tests.setup(ScriptedUpstream.answering(response)).run { _, bench in
          let client = try await bench.connectHTTP2()
          try await client.send(.get(1), .get(3, "/answer"))
          let answers = try await client.answers([1, 3])
          #expect(answers[1]?.status == 502 && answers[3]?.status == 200)
        }
      }
    }

    @Test("A flood of 20,000 streams that are reset at once is cut before 200 reach the upstream (CVE-2023-44487)")
    func rapidReset() async throws {
      try await HTTP2Tests.setup { upstream, peer in
        // Never responds, so each stream that arrives here uses a connection.
        _ = try await upstream.read(peer)
        _ = try await peer.receive()
      }.run { _, bench in
        let client = try await bench.connectHTTP2()
        var sent = 0
        do {
          for batch in 0..<4_000 {
            var bytes: [UInt8] = []
            for index in 0..<5 {
              let stream = (batch * 5 + index) * 2 + 1
              bytes += Frame.get(stream).bytes + Frame.reset(stream).bytes
              sent += 1
            }
            try await client.peer.send(bytes)
            // In pieces, so that the gateway can start the requests that it would start.
            if batch % 10 == 0 { await bench.poller.pause(1) }
          }
        } catch is Peer.Problem {
          // The gateway has closed the connection.
        }
        #expect(sent <= 20_000)
        await bench.eventually("the connection is cut") { await bench.counters().connections == 0 }
        let opened = await bench.counters().opened
        #expect(opened < 200)
        #expect(bench.upstream.requests.count < 200)
      }
    }

    @Test("A flood of streams that are reset while the upstream works on them is cut too")
    func cancelFlood() async throws {
      try await HTTP2Tests.setup { upstream, peer in
        _ = try await upstream.read(peer)
        _ = try await peer.receive()
      }.run { _, bench in
        let client = try await bench.connectHTTP2()
        var stream = 1
        do {
          while stream < 2_000 {
            try await client.send(.get(stream))
            let begun = bench.upstream.requests.count
            await bench.eventually("the request is upstream, or the client is cut off") {
              if bench.upstream.requests.count > begun { return true }
              return await bench.counters().connections == 0
            }
            try await client.send(.reset(stream))
            stream += 2
          }
        } catch is Peer.Problem {}
        #expect(bench.upstream.requests.count < 200)
        #expect(stream < 400)
      }
    }

    @Test("At most the allowed number of streams is served at once")
    func concurrency() async throws {
      try await HTTP2Tests.setup { upstream, peer in
        _ = try await upstream.read(peer)
        _ = try await peer.receive()
      }.run { _, bench in
        let client = try await bench.connectHTTP2()
        // The client does not know the limit yet.
        for stream in stride(from: 1, to: 300, by: 2) { try await client.send(.get(stream)) }
        var refused = 0
        while refused < 50, let frame = try await client.next() {
          if frame.kind == .reset, frame.word(at: 0) == 7 { refused += 1 }
        }
        #expect(refused == 50)
        #expect(bench.upstream.requests.count <= 100)
      }
    }
  }
}
