import HTTP1
import Proxy
import Reactor
import Testing

extension ProxyTests {
  /// Responses that the handler replaces with its own.
  @Suite("Withheld responses")
  struct WithheldTests {
    private static func redirecting(_ location: String) -> ScriptedUpstream.Script {
      ScriptedUpstream.answering("HTTP/1.1 303 See Other\r\nLocation: \(location)\r\nContent-Length: 4\r\n\r\nbody")
    }

    private static func head(_ fields: String) -> String {
      "POST /login?a=b HTTP/1.1\r\nHost: a\r\nContent-Type: text/x\r\n\(fields)\r\n\r\n"
    }

    @Test("The handler gets the complete request of a browser with the private cookie, in any framing and any pieces")
    func whole() async throws {
      try await Bench.Setup(upstream: WithheldTests.redirecting("/bound")).run { _, bench in
        let long = String(repeating: "x", count: 40_000)
        let chunks = "1;e=1\r\np\r\n4\r\nw=ab\r\n0\r\n\r\n"
        for (fields, pieces, length) in [
          ("Content-Length: 4", ["pw=a"], 4), ("Content-Length: 4", ["p", "w=", "a"], 4), ("Content-Length: 0", [], 0),
          ("Content-Length: 40000", [long], 40_000), ("Transfer-Encoding: chunked", [chunks], 5),
          ("Transfer-Encoding: chunked", ["1\r\n", "p\r\n4\r", "\nw=ab\r\n0\r\n\r\n"], 5),
          ("Transfer-Encoding: chunked", ["9c40\r\n", long, "\r\n0\r\n\r\n"], 40_000),
        ] {
          let client = try await bench.connect()
          try await client.send(WithheldTests.head("Cookie: __Host-private=1; b=c\r\n\(fields)"))
          for piece in pieces { try await client.send(piece) }
          let response = try await client.readResponse()
          #expect(response.status == 502)
          #expect(response["X-Withheld"] == "/bound")
          #expect(response["X-Complete"] == "true", "\(fields)")
          #expect(response["X-Length"] == "\(length)", "\(fields)")
          #expect(response["X-Method"] == "POST")
          #expect(response["X-Target"] == "/login?a=b")
          #expect(response["X-Cookie"] == "__Host-private=1; b=c")
          #expect(response["X-Type"] == "text/x")
          #expect(response["Location"] == nil)
        }
      }
    }

    @Test("After a reload that lowers the limits of a head, the handler still gets the whole request")
    func reload() async throws {
      try await Bench.Setup(upstream: { upstream, peer in
        _ = try await upstream.read(peer)
        while !upstream.notes.contains("go") { try await upstream.pause(peer) }
        try await peer.send("HTTP/1.1 303 See Other\r\nLocation: /forbidden\r\nContent-Length: 0\r\n\r\n")
      }).run { _, bench in
        let client = try await bench.connect()
        try await client.send(WithheldTests.head("X-A: 1\r\nX-B: 2\r\nCookie: b=c\r\nContent-Length: 4") + "pw=a")
        await bench.eventually("it is upstream") { bench.upstream.requests.count == 1 }
        await bench.reload { $0.limits.head = HeadLimits(bytes: 64, fields: 2, target: 4) }
        bench.upstream.notes = ["go"]
        let response = try await client.readResponse()
        #expect(response["X-Target"] == "/login?a=b")
        #expect(response["X-Cookie"] == "b=c")
        #expect(response["X-Type"] == "text/x")
      }
    }

    @Test("Without the private cookie the handler gets only the head, marked as incomplete")
    func headAlone() async throws {
      try await Bench.Setup(upstream: WithheldTests.redirecting("/forbidden")).run { _, bench in
        let client = try await bench.connect()
        try await client.send(WithheldTests.head("Cookie: b=c\r\nContent-Length: 4") + "pw=a")
        let response = try await client.readResponse()
        #expect(response["X-Complete"] == "false")
        #expect(response["X-Length"] == "0")
        #expect(response["X-Cookie"] == "b=c")
        // The connection continues, and a request without a body is always complete.
        try await client.send("GET /next HTTP/1.1\r\nHost: a\r\nCookie: b=c\r\n\r\n")
        let next = try await client.readResponse()
        #expect(next["X-Complete"] == "true")
        #expect(next["X-Target"] == "/next")
      }
    }

    @Test("A body above the limit is not kept, and still passes")
    func overlong() async throws {
      try await Bench.Setup(
        upstream: WithheldTests.redirecting("/bound"), configure: { $0.limits.requestCopy = 100_000 }
      ).run { _, bench in
        let client = try await bench.connect()
        let body = String(repeating: "x", count: 100_001)
        let head = WithheldTests.head("Cookie: __Host-private=1\r\nContent-Length: \(body.utf8.count)")
        try await client.send(head + body)
        let response = try await client.readResponse()
        #expect(response["X-Complete"] == "false")
        #expect(response["X-Length"] == "0")
        // None of its bytes count for the next request.
        try await client.send(WithheldTests.head("Cookie: __Host-private=1\r\nContent-Length: 4") + "pw=a")
        let next = try await client.readResponse()
        #expect(next["X-Complete"] == "true")
        #expect(next["X-Length"] == "4")
      }
    }

    @Test("A long body is kept while less than half of the memory is in use, and one of 64 KiB as long as there is any")
    func shortMemory() async throws {
      let total = 40 * Buffer.capacity
      try await Bench.Setup(
        upstream: WithheldTests.redirecting("/bound"), configure: { $0.limits.bufferMemory = total }
      ).run { _, bench in
        for (length, isComplete) in [(total / 4, true), (total / 2, false), (64 * 1024, true)] {
          let client = try await bench.connect()
          try await client.send(WithheldTests.head("Cookie: __Host-private=1\r\nContent-Length: \(length)"))
          try await client.send(String(repeating: "x", count: length))
          let response = try await client.readResponse()
          #expect(response["X-Complete"] == "\(isComplete)" && response["X-Length"] == (isComplete ? "\(length)" : "0"))
          client.close()
        }
      }
    }

    @Test("A verdict may depend on the private cookie")
    func bound() async throws {
      try await Bench.Setup(upstream: WithheldTests.redirecting("/bound")).run { _, bench in
        let response = try await bench.get("/", "Cookie: b=c")
        #expect(response.status == 303)
        #expect(response["Location"] == "/bound")
      }
    }
  }
}
