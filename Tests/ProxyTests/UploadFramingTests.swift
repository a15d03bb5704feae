import HTTP2TestSupport
import Proxy
import Reactor
import Synchronization
import Testing
import Time

extension ProxyTests {
  struct UploadFramingTests {
    @Test("A GET over HTTP/2 whose empty body ends in a separate frame goes up without a body")
    func emptyFrame() async throws {
      try await HTTP2Tests.setup().run { _, bench in
        let client = try await bench.connectHTTP2()
        try await client.send(.headers(1, Frame.request("GET", "/empty"), endsStream: false))
        // After the answer to the PING the request is being served.
        try await client.send(Frame(.ping, flags: 0, stream: 0, payload: [UInt8](repeating: 1, count: 8)))
        _ = try await client.next(.ping)
        try await client.send(.data(1, "", endsStream: true))
        let answer = try await client.answer(1)
        #expect(answer.text == "/empty")
        let request = try #require(bench.upstream.requests.first)
        #expect(request["Transfer-Encoding"] == nil && request["Content-Length"] == nil && request["Connection"] == nil)
        // Like after any other GET, its connection can carry the next request.
        let counters = await bench.counters()
        #expect(counters.idle == 1)
      }
    }

    @Test("An empty chunked GET over HTTP/1.1 goes up without a body, and one with a body goes up in chunks")
    func chunkedGet() async throws {
      let long = String(repeating: "a", count: 20_000)
      for (body, framing) in [("", nil), (long, "chunked")] as [(String, String?)] {
        try await Bench.Setup().run { _, bench in
          let client = try await bench.connect()
          try await client.send("GET /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
          // The proxy holds only the rewritten head.
          await bench.eventually("the head was read") { await bench.counters().buffers == 1 }
          let counters = await bench.counters()
          #expect(counters.open == 0)
          let chunk = body.isEmpty ? "" : "\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n"
          try await client.send("\(chunk)0\r\n\r\n")
          let response = try await client.readResponse()
          #expect(response.text == "/x")
          let request = try #require(bench.upstream.requests.first)
          #expect(request["Transfer-Encoding"] == framing && request["Content-Length"] == nil)
          #expect(request.text == body)
        }
      }
    }

    @Test("A chunked GET whose body never begins gets 408, and the upstream sees no request")
    func silentBody() async throws {
      try await Bench.Setup(configure: { $0.bodyTimeout = 40 }).run { _, bench in
        let response = try await bench.exchange("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        #expect(response.status == 408)
        #expect(bench.upstream.connections == 0)
      }
    }

    @Test("The response of an upstream that has not read all of the gateway's own request is read")
    func earlyAnswer() async throws {
      try await Bench.Setup(upstream: { upstream, peer in
        _ = try await peer.readHead()
        try await peer.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno")
        // The upstream does not read: the request is larger than the kernel's buffers for it.
        while peer.socket.isOpen, !upstream.notes.contains("answered") { try await upstream.pause(peer) }
      }).run { _, bench in
        let body = [UInt8](repeating: 0x61, count: 12 << 20)
        let client = try await bench.connect()
        try await client.send("POST /intercept/huge/post HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.count)\r\n\r\n")
        try await client.send(body)
        let response = try await client.readResponse()
        #expect(response.status == 403 && response.text == "no")
        // The connection, on which half a request was sent, carries no other request.
        let counters = await bench.counters()
        #expect(counters.idle == 0)
        bench.upstream.notes = ["answered"]
      }
    }

    @Test(
      "A gRPC call over HTTP/2 is answered with UNIMPLEMENTED and not forwarded",
      arguments: ["", "+proto", ";charset=a"])
    func grpc(_ subtype: String) async throws {
      try await HTTP2Tests.setup().run { _, bench in
        let client = try await bench.connectHTTP2()
        let fields =
          Frame.request("POST", "/service/Method") + [
            ("content-type", "Application/gRPC\(subtype)"), ("te", "trailers"),
          ]
        try await client.send(.headers(1, fields, endsStream: false))
        let answer = try await client.answer(1)
        #expect(answer.status == 200 && answer["grpc-status"] == "12" && answer["content-type"] == "application/grpc")
        #expect(answer.text.isEmpty)
        #expect(bench.upstream.connections == 0)
      }
    }

    @Test("A gRPC call over HTTP/1.1 is refused with 415, and gRPC-Web passes")
    func grpcOverHTTP1() async throws {
      try await Bench.Setup().run { _, bench in
        for (type, status) in [("application/grpc", 415), ("application/grpc-web+proto", 200), ("text/plain", 200)] {
          let response = try await bench.exchange(
            "POST /m HTTP/1.1\r\nHost: a\r\nContent-Type: \(type)\r\nContent-Length: 2\r\n\r\nhi")
          #expect(response.status == status)
        }
        #expect(bench.upstream.requests.count == 2)
        let (server, calls) = (bench.server, Counter())
        await server.update {
          calls.value.wrappingAdd(($0.metrics as? CountedLimits)?.grpcCalls ?? 0, ordering: .relaxed)
        }
        let count = calls.value.load(ordering: .relaxed)
        #expect(count == 1)
      }
    }

    private final class Counter: Sendable {
      let value = Atomic<Int>(0)
    }

    @Test(
      "The reason why a response was refused reaches the metrics, for every kind of client",
      arguments: [
        ("HTTP/1.1 200 OK\nContent-Length: 0\n\n", "a bare line feed in the head"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok", "more than one Content-Length field"),
        ("HTTP/1.1 999 No\r\n\r\n", "a status code outside 100 to 599"),
        ("HTTP/1.1 101 Switching Protocols\r\n\r\n", "a protocol switch that was not requested"),
        ("HTTP/1.1 200 OK\r\nX: " + String(repeating: "y", count: 17_000), "a head longer than 16384 bytes"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz", "a chunk without a size"),
      ])
    func reasons(_ answer: String, _ reason: String) async throws {
      try await Bench.Setup(upstream: ScriptedUpstream.answering(answer)).run { _, bench in
        for target in ["/", "/intercept/collect"] { _ = try? await bench.get(target) }
        await bench.eventually("both have failed") { await bench.failures().count == 2 }
        let failures = await bench.failures()
        #expect(failures == [.malformed(reason), .malformed(reason)])
      }
    }
  }
}
