import HTTP1
import Proxy
import Reactor
import Telemetry
import Testing
import Time

extension ProxyTests {
  struct InspectionTests {
    private static let head = "POST /inspect/show HTTP/1.1\r\nHost: a\r\n"

    @Test("The handler sees a body in either framing, in pieces or at once")
    func shown() async throws {
      try await Bench.Setup().run { _, bench in
        let plain = try await bench.exchange(Self.head + "Content-Length: 5\r\n\r\nhello")
        #expect(plain.text == "hello")
        let chunked = try await bench.exchange(
          Self.head + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n2\r\nbc\r\n0\r\n\r\n")
        #expect(chunked.text == "abc")
        let client = try await bench.connect()
        for piece in [Self.head + "Content-Le", "ngth: 6\r\n\r\n", "g", "ran", "t_"] {
          try await client.send(piece)
          await bench.poller.pause(1)
        }
        let response = try await client.readResponse()
        #expect(response.text == "grant_")
      }
    }

    @Test("A reload that lowers the limits of a head does not change a form in progress")
    func reload() async throws {
      try await Bench.Setup().run { _, bench in
        let fields = "Authorization: Bearer t\r\nCookie: s=1\r\n"
        for target in ["/inspect", "/inspect/show"] {
          await bench.reload { $0.limits.head = .standard }
          let client = try await bench.connect()
          try await client.send(
            "POST \(target) HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\(fields)\r\n")
          // The head was read, and the inspection waits for the body.
          _ = try await client.take(through: "\r\n\r\n")
          await bench.reload { $0.limits.head = HeadLimits(bytes: 64, fields: 2, target: 4) }
          try await client.send("hi")
          let response = try await client.readResponse()
          #expect(response.status == 200)
        }
        #expect(bench.upstream.requests.map(\.target) == ["/inspect"])
        #expect(bench.upstream.requests.last?["Authorization"] == "Bearer t")
        #expect(bench.upstream.requests.last?["Cookie"] == "s=1")
      }
    }

    @Test("The handler sees a body up to its limit, or as much as the receive buffer can hold while memory is short")
    func long() async throws {
      for memory in [64 << 20, 100_000] {
        try await Bench.Setup(configure: { $0.limits.bufferMemory = memory }).run { _, bench in
          let isShort = memory < 1 << 20
          for count in isShort ? [50_000, 90_000] : [20_000, 50_000, 90_000] {
            let body = String(repeating: "x", count: count)
            let response = try await bench.exchange(Self.head + "Content-Length: \(count)\r\n\r\n" + body)
            let seen = response.body.count
            #expect(
              isShort ? seen > 8_192 && seen < 20_000 : seen == count || count > 60_000 && seen >= 60_000, "\(seen)")
            #expect(isShort || seen < 80_000)
            let rest = count - count / 2
            let chunked = try await bench.exchange(
              Self.head + "Transfer-Encoding: chunked\r\n\r\n"
                + [count / 2, rest].map { "\(String($0, radix: 16))\r\n\(body.prefix($0))\r\n" }.joined() + "0\r\n\r\n")
            #expect(isShort || chunked.body.count == count || count > 60_000 && chunked.body.count > 50_000)
          }
        }
      }
    }

    @Test(
      "A request that passes after the inspection reaches the upstream byte for byte",
      arguments: [0, 1, 5, 16_000, 16_384, 100_000])
    func passed(count: Int) async throws {
      try await Bench.Setup().run { _, bench in
        let client = try await bench.connect()
        let body = String(repeating: "y", count: count)
        for _ in 0..<2 {
          try await client.send("POST /inspect HTTP/1.1\r\nHost: a\r\nContent-Length: \(count)\r\n\r\n\(body)")
          let plain = try await client.readResponse()
          #expect(plain.status == 200)
          #expect(bench.upstream.requests.last?.text == body)
          let chunk = count == 0 ? "" : "\(String(count, radix: 16))\r\n\(body)\r\n"
          try await client.send(
            "POST /inspect HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(chunk)0\r\n\r\n")
          let chunked = try await client.readResponse()
          #expect(chunked.status == 200)
          #expect(bench.upstream.requests.last?.text == body)
        }
      }
    }

    @Test("A form on an unlisted path, and a body that is read whole, must arrive at the minimum rate")
    func slow() async throws {
      for target in ["/inspect/show", "/intercept"] {
        try await Bench.Setup(configure: {
          $0.limits.minimumRate = 10_000
          $0.limits.rateWindow = 40
        }).run { _, bench in
          let response = try await bench.exchange(
            "POST \(target) HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf", to: "POST")
          #expect(response.status == 408, "\(target)")
          #expect(bench.upstream.connections == 0)
          let counts = (await bench.count(.minimumRate), await bench.count(.bodyTimeout))
          #expect(counts == (1, 0))
        }
      }
    }

    @Test("A client that expects 100-continue gets it once, and a malformed or truncated body is refused")
    func endings() async throws {
      try await Bench.Setup().run { _, bench in
        let client = try await bench.connect()
        try await client.send(
          "POST /inspect HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        let interim = try await client.readHead()
        #expect(interim.status == 100)
        try await client.send("ok")
        let response = try await client.readResponse()
        #expect(response.status == 200)
        #expect(bench.upstream.requests.last?.text == "ok")
        let broken = try await bench.exchange(
          "POST /inspect HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n")
        #expect(broken.status == 400)
        let cut = try await bench.connect()
        try await cut.send("POST /inspect HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc")
        cut.shutdownWrite()
        let refused = try await cut.readResponse()
        #expect(refused.status == 400)
        #expect(bench.upstream.requests.count == 1)
      }
    }
  }
}
