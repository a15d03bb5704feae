import HTTP2
import HTTP2TestSupport
import Proxy
import Reactor
import Testing
import Time

extension ProxyTests {
  struct StreamingTests {
    /// Not periodic in any power of two, so that a lost, doubled or moved piece is noticed.
    private static func pattern(_ count: Int) -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: count)
      var value: UInt32 = 1
      for index in bytes.indices {
        value = value &* 1_664_525 &+ 1_013_904_223
        bytes[index] = UInt8(truncatingIfNeeded: value >> 24)
      }
      return bytes
    }

    private static let large = 8 << 20

    private static func chunks(_ body: [UInt8]) -> [UInt8] {
      var out: [UInt8] = []
      out.reserveCapacity(body.count * 2)
      var position = 0
      var size = 1
      while position < body.count {
        let count = min(size, body.count - position)
        out += "\(String(count, radix: 16))\r\n".utf8
        out += body[position..<position + count]
        out += "\r\n".utf8
        position += count
        size = size * 7 % 65_521 + 1
      }
      return out + Array("0\r\n\r\n".utf8)
    }

    @Test("Large bodies arrive complete, in either framing and both directions", arguments: [false, true])
    func large(_ isChunked: Bool) async throws {
      let body = StreamingTests.pattern(StreamingTests.large)
      let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(body.count)"
      let wire = isChunked ? StreamingTests.chunks(body) : body
      try await Bench.Setup(upstream: { upstream, peer in
        let request = try await upstream.read(peer)
        upstream.notes.append("\(request.body == body)")
        try await peer.send("HTTP/1.1 200 OK\r\n\(framing)\r\n\r\n")
        try await peer.send(wire)
        _ = try await peer.receive()
      }).run { _, bench in
        let client = try await bench.connect()
        try await client.send("POST / HTTP/1.1\r\nHost: a\r\n\(framing)\r\n\r\n")
        try await client.send(wire)
        let response = try await client.readResponse()
        #expect(response.body == body)
        #expect(bench.upstream.notes == ["true"])
      }
    }

    @Test("Each event of a response without an end arrives at once, over HTTP/1.1 and HTTP/2")
    func events() async throws {
      // The next event is sent only after the client has received the one before it.
      let script: ScriptedUpstream.Script = { upstream, peer in
        _ = try await upstream.read(peer)
        try await peer.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        for number in 1...5 {
          try await peer.send("9\r\ndata: \(number)\n\n\r\n")
          while !upstream.notes.contains("\(number)") { try await upstream.pause(peer) }
        }
        try await peer.send("0\r\n\r\n")
      }
      try await Bench.Setup(upstream: script, configure: { $0.http2 = HTTP2Limits() }).run { _, bench in
        let client = try await bench.connect()
        try await client.send("GET /events HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n")
        #expect(try await client.readHead().status == 200)
        for number in 1...5 {
          _ = try await client.take(through: "data: \(number)\n\n")
          bench.upstream.notes.append("\(number)")
        }
        _ = try await client.take(through: "0\r\n\r\n")
        bench.upstream.notes = []
        let other = try await bench.connectHTTP2()
        try await other.send(.get(1, "/events"))
        _ = try await other.next(.headers)
        for number in 1...5 {
          #expect(try await other.next(.data)?.payload == Array("data: \(number)\n\n".utf8))
          bench.upstream.notes.append("\(number)")
        }
        #expect(try await other.next(.data)?.endsStream == true)
      }
    }

    @Test("A request body and a response body can pass at the same time")
    func simultaneous() async throws {
      // The upstream responds while it reads: the response stops the upload and arrives complete.
      let body = StreamingTests.pattern(1 << 20)
      try await Bench.Setup(upstream: { upstream, peer in
        _ = try await peer.readHead()
        try await peer.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: \(body.count)\r\n\r\n")
        try await peer.send(body)
        _ = try await peer.waitForEnd()
      }).run { worker, bench in
        let client = try await bench.connect()
        worker.poller.start(
          PeerTask {
            try? await client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n")
            try? await client.send([UInt8](repeating: 0x61, count: 200_000))
          })
        let other = try await bench.connect()
        try await other.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n")
        let response = try await other.readResponse()
        #expect(response.status == 413 && response.body == body)
        #expect(response["Connection"] == "close")
        let ending = try await other.waitForEnd()
        #expect(ending == .end)
      }
    }

    @Test("A reader that stops uses a bounded number of buffers, and then gets everything")
    func slowReader() async throws {
      let body = StreamingTests.pattern(StreamingTests.large)
      try await Bench.Setup(upstream: { upstream, peer in
        _ = try await upstream.read(peer)
        try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n")
        try await peer.send(body)
        upstream.notes.append("sent")
        _ = try await peer.receive()
      }).run { _, bench in
        let client = try await bench.connect()
        try await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await bench.eventually("the request is upstream") { bench.upstream.requests.count == 1 }
        // The proxy still answers others, and uses at most two buffers for each direction.
        for _ in 0..<20 {
          let other = try await bench.get("/answer")
          #expect(other.status == 200)
          let counters = await bench.counters()
          #expect(counters.buffers <= 4 + 2)
        }
        let response = try await client.readResponse()
        #expect(response.body == body)
      }
    }

    @Test("A slow reader whose upstream is reset does not block the worker")
    func resetBehindSlowReader() async throws {
      try await Bench.Setup(upstream: { upstream, peer in
        _ = try await upstream.read(peer)
        try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
        upstream.notes.append("begun")
        // Until the whole path is full, then a reset.
        let filler = [UInt8](repeating: 0x61, count: 1 << 16)
        while upstream.notes.last != "reset" { try await peer.send(filler) }
      }).run { worker, bench in
        let client = try await bench.connect()
        try await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await bench.eventually("the response has begun") { bench.upstream.notes == ["begun"] }
        let upstream = try #require(bench.upstream.peers.first)
        // If nothing has moved for a while, the proxy waits for its client only.
        var quiet = 0
        while quiet < 4 {
          await worker.poller.pause(20)
          quiet = upstream.socket.satisfies(.writable) ? 0 : quiet + 1
        }
        bench.upstream.notes.append("reset")
        upstream.reset()
        for _ in 0..<5 {
          let other = try await bench.get("/answer")
          #expect(other.status == 200)
        }
        let response = try await client.readResponse()
        #expect(!response.isWhole)
        #expect(client.ending == .reset)
      }
    }

    @Test("The rest of a failed upload's body is never read as a request (attack class 8)")
    func failedUpload() async throws {
      let body = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
      try await Bench.Setup(upstream: { upstream, peer in
        let head = try await peer.readHead()
        upstream.notes.append(head.target)
        _ = try await peer.receive()
      }).run { _, bench in
        for round in 1...100 {
          let client = try await bench.connect()
          try await client.send("POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.utf8.count)\r\n\r\n")
          await bench.eventually("the head is upstream") { bench.upstream.notes.count == round }
          // Both at once, so that in some rounds the body is read in the turn in which the upstream connection breaks.
          bench.upstream.peers.last?.reset()
          try await client.send(body)
          let response = try await client.readResponse()
          #expect(response.status == 502)
          if response["Connection"] != "close" {
            try await client.send("GET /answer HTTP/1.1\r\nHost: a\r\n\r\n")
            let next = try await client.readResponse()
            #expect(next.text == "answered")
          }
          client.close()
        }
        #expect(bench.upstream.notes.allSatisfy { $0 == "/post" })
      }
    }
  }
}

extension ScriptedUpstream {
  /// Waits without reading.
  func pause(_ peer: Peer) async throws {
    await peer.poller.pause(2)
    if !peer.socket.isOpen { throw Peer.Problem.ended(.end) }
  }
}
