import Proxy
import Testing

extension ProxyTests {
  /// The desynchronisation kit: every case runs against a proxy of its own, in front of an upstream that records every
  /// byte. Either no byte reaches the upstream, or exactly one canonical request.
  struct DesyncTests {
    private static let marker = "GET /smuggled HTTP/1.1\r\nHost: gateway.test\r\n\r\n"
    private static let next = CanonicalRequest(target: "/next")

    @Test(
      "Transfer-Encoding and Content-Length cannot be read in two ways (attack class 1)",
      arguments: Desync.transferCoding)
    func transferCoding(_ item: DesyncCase) async throws { try await run(item) }

    @Test("A length is exactly one number (attack class 2)", arguments: Desync.contentLength)
    func contentLength(_ item: DesyncCase) async throws { try await run(item) }

    @Test("Chunks have exactly one syntax (attack class 3)", arguments: Desync.chunks)
    func chunks(_ item: DesyncCase) async throws { try await run(item) }

    @Test("Trailers that are forwarded end in front of the next request (attack class 3)", arguments: Desync.trailers)
    func trailers(_ item: DesyncCase) async throws { try await run(item) { $0.forwardsTrailers = true } }

    @Test("Lines end in one way and contain one field (attack class 4)", arguments: Desync.lines)
    func lines(_ item: DesyncCase) async throws { try await run(item) }

    @Test("A request has exactly one host and one target (attack class 5)", arguments: Desync.targets)
    func targets(_ item: DesyncCase) async throws { try await run(item) }

    @Test(
      "Hop-by-hop fields are not forwarded, and no other field can be declared hop-by-hop (attack class 6)",
      arguments: Desync.hops)
    func hops(_ item: DesyncCase) async throws { try await run(item) }

    @Test("No connection changes its protocol (attack class 7)", arguments: Desync.upgrades)
    func upgrades(_ item: DesyncCase) async throws { try await run(item) }

    @Test(
      "Expectations and unread bodies leave both connections in sync (attack class 8)", arguments: Desync.expectations)
    func expectations(_ item: DesyncCase) async throws { try await run(item) }

    @Test("The kit has more cases than comparable published kits")
    func size() {
      let cases = [
        Desync.transferCoding, Desync.contentLength, Desync.chunks, Desync.lines, Desync.targets, Desync.hops,
        Desync.upgrades, Desync.expectations,
      ].flatMap(\.self)
      #expect(cases.count > 231)
      #expect(Set(cases.map(\.bytes)).count == cases.count)
    }

    private func run(
      _ item: DesyncCase, _ configure: @escaping @Sendable (inout ProxyConfiguration) -> Void = { _ in }
    ) async throws {
      try await Bench.Setup(upstream: DesyncUpstream.script, configure: configure).run { _, bench in
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
