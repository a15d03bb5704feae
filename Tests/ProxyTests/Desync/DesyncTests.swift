import Proxy
import Testing

extension ProxyTests {
  /// The kit against desynchronisation: every case runs against a proxy of its own, before an upstream that keeps every
  /// byte. None may reach it, or exactly one canonical request.
  struct DesyncTests {
    private static let marker = "GET /smuggled HTTP/1.1\r\nHost: gateway.test\r\n\r\n"
    private static let next = CanonicalRequest(target: "/next")

    @Test(
      "Transfer-Encoding and Content-Length leave no two readings (attack class 1)", arguments: Desync.transferCoding)
    func transferCoding(_ item: DesyncCase) async throws { try await run(item) }

    @Test("A length is one number (attack class 2)", arguments: Desync.contentLength)
    func contentLength(_ item: DesyncCase) async throws { try await run(item) }

    @Test("Chunks have one syntax (attack class 3)", arguments: Desync.chunks)
    func chunks(_ item: DesyncCase) async throws { try await run(item) }

    @Test("Lines end in one way and hold one field (attack class 4)", arguments: Desync.lines)
    func lines(_ item: DesyncCase) async throws { try await run(item) }

    @Test("A request has one host and one target (attack class 5)", arguments: Desync.targets)
    func targets(_ item: DesyncCase) async throws { try await run(item) }

    @Test("What belongs to a hop stays there, and nothing else can be made to (attack class 6)", arguments: Desync.hops)
    func hops(_ item: DesyncCase) async throws { try await run(item) }

    @Test("No connection turns into something else (attack class 7)", arguments: Desync.upgrades)
    func upgrades(_ item: DesyncCase) async throws { try await run(item) }

    @Test("Expectations and unread bodies leave both sides in step (attack class 8)", arguments: Desync.expectations)
    func expectations(_ item: DesyncCase) async throws { try await run(item) }

    @Test("The kit is larger than the one that others were measured by")
    func size() {
      let cases = [
        Desync.transferCoding, Desync.contentLength, Desync.chunks, Desync.lines, Desync.targets, Desync.hops,
        Desync.upgrades, Desync.expectations,
      ].flatMap(\.self)
      #expect(cases.count > 231)
      #expect(Set(cases.map(\.bytes)).count == cases.count)
    }

    private func run(_ item: DesyncCase) async throws {
      try await Bench.Setup(upstream: DesyncUpstream.script).run { _, bench in
        let client = try await bench.connect()
        switch item.expectation {
        case .refused(let status):
          try await client.send(item.bytes + DesyncTests.marker)
          client.shutdownWrite()
          let response = try await client.readResponse()
          #expect(response.status == status)
          #expect(response["Connection"] == "close")
          let rest = try await client.takeRest()
          #expect(rest.isEmpty)
          #expect(bench.upstream.connections == 0)
          #expect(bench.upstream.notes.isEmpty)
        case .cut(let status):
          try await client.send(item.bytes + DesyncTests.marker)
          client.shutdownWrite()
          let response = try await client.readResponse()
          #expect(response.status == status)
          let rest = try await client.takeRest()
          #expect(rest.isEmpty)
          await bench.eventually("the upstream's connection is closed") { await bench.counters().open == 0 }
          await bench.eventually("the upstream has seen it") {
            bench.upstream.notes.count == bench.upstream.connections
          }
          #expect(bench.upstream.notes.allSatisfy { $0.hasPrefix(DesyncUpstream.cut) })
          #expect(!bench.upstream.notes.contains { $0.contains("GET /smuggled") })
        case .forwarded(let request):
          try await client.send(item.bytes + (request.isLast ? "" : "GET /next HTTP/1.1\r\nHost: gateway.test\r\n\r\n"))
          let response = try await client.readResponse(to: request.method)
          #expect(response.status == 200)
          var expected = [request.bytes]
          if !request.isLast {
            let next = try await client.readResponse()
            #expect(next.status == 200)
            expected.append(DesyncTests.next.bytes)
          }
          client.shutdownWrite()
          let rest = try await client.takeRest()
          #expect(rest.isEmpty)
          #expect(bench.upstream.notes == expected)
        }
        for note in bench.upstream.notes {
          let ambiguity = DesyncUpstream.ambiguity(in: note)
          #expect(ambiguity == nil)
        }
      }
    }
  }
}
