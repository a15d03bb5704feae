import HTTP1
import Reactor
import Synchronization
import Testing

@testable import Proxy

extension ProxyTests {
  /// Reuse of upstream connections.
  struct ReuseTests {
    @Test("A request that is sent again has the same bytes, however long its target is")
    func again() async throws {
      let stale: ScriptedUpstream.Script = { upstream, peer in
        _ = try await upstream.read(peer)
        try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        if upstream.connections == 1 {
          let lost = try await peer.readHead()
          upstream.notes.append(lost.head)
        } else {
          _ = try await peer.receive()
        }
      }
      try await Bench.Setup(
        upstream: stale, configure: { $0.limits.head = HeadLimits(bytes: 16 * 1024, fields: 100, target: 12_000) }
      ).run { _, bench in
        _ = try await bench.get("/first")
        let target = "/" + String(repeating: "x", count: 10_000)
        let response = try await bench.get(target, "Cookie: session=1", "Authorization: Basic eDp5", "If-None-Match: 1")
        #expect(response.text == "ok")
        let request = try #require(bench.upstream.requests.last)
        #expect(bench.upstream.notes == [request.head])
        #expect(request["Cookie"] == "session=1" && request["Authorization"] == "Basic eDp5")
        #expect(request["If-None-Match"] == "1" && request.target == target)
      }
    }

    @Test("A body that follows a response to HEAD in a separate write reaches no other request")
    func strayBody() async throws {
      let stray = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstolen"
      let script: ScriptedUpstream.Script = { upstream, peer in
        while true {
          let request = try await upstream.read(peer)
          let length = request.method == "HEAD" ? stray.utf8.count : 3
          try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n")
          if request.method == "HEAD" {
            while peer.socket.isOpen, !upstream.notes.contains("late") { try await upstream.pause(peer) }
            try await peer.send(stray)
          } else {
            try await peer.send("own")
          }
        }
      }
      try await Bench.Setup(upstream: script).run { _, bench in
        _ = try await bench.exchange("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", to: "HEAD")
        bench.upstream.notes = ["late"]
        for request in [
          "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET /intercept/collect HTTP/1.1\r\nHost: a\r\n\r\n",
          "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
        ] {
          let response = try await bench.exchange(request)
          #expect(response.text == "own")
        }
        // The connection of the first request carried no other request.
        #expect(bench.upstream.connections == 2)
      }
    }

    @Test(
      "Unread bytes on an idle connection keep it from a reserved request and from one that must not be sent twice",
      arguments: [(false, false), (false, true), (true, true)])
    func unreported(_ isIdempotent: Bool, _ isReserved: Bool) async throws {
      let script: ScriptedUpstream.Script = { upstream, peer in
        _ = try await upstream.read(peer)
        try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        while !upstream.notes.contains("late") { try await upstream.pause(peer) }
        try await peer.send("surplus")
        upstream.notes.append("sent")
        _ = try await peer.waitForEnd()
      }
      try await Bench.Setup(upstream: script).run { _, bench in
        _ = try await bench.get("/")
        await bench.eventually("the connection is idle") { await bench.counters().idle == 1 }
        final class Outcome: Sendable {
          let wasTaken = Atomic<Bool>(true)
        }
        let outcome = Outcome()
        let brake = await bench.brake { proxy in
          let taken = proxy.pool.takeIdle(mayRepeat: isIdempotent, mayUseReserved: isReserved)
          outcome.wasTaken.store(taken != nil, ordering: .relaxed)
          if let taken { proxy.pool.retire(taken) }
        }
        bench.upstream.notes = ["late"]
        await bench.eventually("the bytes have arrived") { bench.upstream.notes.last == "sent" }
        await brake.release()
        let wasTaken = outcome.wasTaken.load(ordering: .relaxed)
        #expect(!wasTaken)
        let counters = await bench.counters()
        #expect(counters.open == 0)
      }
    }

    @Test(
      "A body that servers need not read goes up with `Connection: close`, and its connection is not used again",
      arguments: ["GET", "HEAD", "DELETE", "OPTIONS", "PROPFIND", "REPORT", "SEARCH", "QUERY", "LOCK", "get"])
    func unreadBody(_ method: String) async throws {
      // Leaves bodies unread and reads them as the next request, unless the request asked to close.
      let script: ScriptedUpstream.Script = { upstream, peer in
        while true {
          let request = try await peer.readHead()
          upstream.requests.append(request)
          try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" + (request.method == "HEAD" ? "" : "ok"))
          if request["Connection"] == "close" { return }
        }
      }
      let inner = "POST /token HTTP/1.1\r\nHost: a\r\n\r\n"
      for framing in ["Content-Length: \(inner.utf8.count)\r\n\r\n\(inner)", "Transfer-Encoding: chunked\r\n\r\n"] {
        try await Bench.Setup(upstream: script).run { _, bench in
          let chunks = "\(String(inner.utf8.count, radix: 16))\r\n\(inner)\r\n0\r\n\r\n"
          let body = framing.hasPrefix("Transfer") ? chunks : ""
          let response = try await bench.exchange("\(method) /x HTTP/1.1\r\nHost: a\r\n\(framing)\(body)", to: method)
          #expect(response.status == 200)
          let next = try await bench.get("/next")
          #expect(next.text == "ok")
          #expect(bench.upstream.requests.map(\.target) == ["/x", "/next"])
          #expect(bench.upstream.connections == 2)
        }
      }
    }

    @Test("A body that the handler forwards with GET goes up with `Connection: close`, and that of a POST does not")
    func unreadHandlerBody() async throws {
      let script: ScriptedUpstream.Script = { upstream, peer in
        while true {
          _ = try await upstream.read(peer)
          try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
      }
      try await Bench.Setup(upstream: script).run { _, bench in
        let withoutBody = "GET /intercept/collect HTTP/1.1\r\nHost: a\r\n\r\n"
        let body = "HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
        for request in [withoutBody, withoutBody, "POST /intercept/collect \(body)", withoutBody] {
          let response = try await bench.exchange(request)
          #expect(response.text == "ok")
        }
        #expect(bench.upstream.requests.map { $0["Connection"] } == [nil, nil, "close", nil])
        #expect(bench.upstream.requests.map(\.method) == ["GET", "GET", "GET", "GET"])
        #expect(bench.upstream.connections == 2)
        _ = try await bench.exchange("POST /intercept/post \(body)")
        #expect(bench.upstream.requests.last?.method == "POST")
        #expect(bench.upstream.requests.last?["Connection"] == nil)
      }
    }
  }
}
