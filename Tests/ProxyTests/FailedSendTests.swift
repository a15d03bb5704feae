import Glibc
import Proxy
import Reactor
import Testing
import Time

extension ProxyTests {
  struct FailedSendTests {
    /// Shuts down the sending side of the proxy's connections to `upstream`. Their next send fails, while the upstream
    /// has neither responded nor closed.
    private static func breakSends(to upstream: Address) -> Int {
      var count = 0
      for descriptor in Int32(3)..<4_096 {
        var peer = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = unsafe withUnsafeMutablePointer(to: &peer) { pointer in
          unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            unsafe getpeername(descriptor, $0, &length)
          }
        }
        guard result == 0, Int(in_port_t(bigEndian: peer.sin_port)) == upstream.port else { continue }
        if shutdown(descriptor, Int32(SHUT_WR)) == 0 { count += 1 }
      }
      return count
    }

    @Test(
      "A failed send to the upstream, before any response, ends the request, and the worker continues",
      arguments: [
        ("GET /safe HTTP/1.1\r\nHost: a\r\n\r\n", 200),
        ("POST /unsafe HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi", 502),
        ("GET /intercept/collect HTTP/1.1\r\nHost: a\r\n\r\n", 200),
        ("POST /intercept/post HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi", 502),
      ])
    func nothingArrived(_ request: String, _ status: Int) async throws {
      let script: ScriptedUpstream.Script = { upstream, peer in
        while let request = try? await upstream.read(peer) {
          try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
          upstream.notes.append(request.target)
        }
        while peer.socket.isOpen { try await upstream.pause(peer) }
      }
      try await Bench.Setup(upstream: script, configure: { $0.maximumIdleTimeIfNotRepeatable = 60_000 }).run {
        _, bench in
        _ = try await bench.get("/first")
        await bench.eventually("the connection is idle") { await bench.counters().idle == 1 }
        #expect(FailedSendTests.breakSends(to: bench.upstream.address) == 1)
        let response = try await bench.exchange(request)
        #expect(response.status == status)
        let next = try await bench.get("/answer")
        #expect(next.text == "answered")
      }
    }

    @Test("A reset that a failed send has met does not make a partial response look complete")
    func cutAnswer() async throws {
      let script: ScriptedUpstream.Script = { upstream, peer in
        _ = try await peer.take(through: "first")
        upstream.notes.append("first")
        while !upstream.notes.contains("answer") { try await upstream.pause(peer) }
        try await peer.send("HTTP/1.1 200 OK\r\n\r\npart")
        peer.reset()
        upstream.notes.append("reset")
      }
      for version in ["1.1", "1.0"] {
        try await Bench.Setup(upstream: script).run { _, bench in
          let client = try await bench.connect()
          try await client.send("POST / HTTP/\(version)\r\nHost: a\r\nContent-Length: 5000\r\n\r\nfirst")
          await bench.eventually("the upload has begun") { bench.upstream.notes == ["first"] }
          // In one turn of the worker: more to send, a response, and the reset, which the send meets first.
          let brake = await bench.brake()
          bench.upstream.notes.append("answer")
          await bench.eventually("the upstream has reset") { bench.upstream.notes.last == "reset" }
          try await client.send("second")
          await brake.release()
          let response = try? await client.readResponse()
          #expect(response == nil || response?.isWhole == false || response?.status == 502)
        }
      }
    }
  }
}
