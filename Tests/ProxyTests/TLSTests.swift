import Proxy
import Reactor
import Synchronization
import TLS
import TLSTestSupport
import Telemetry
import Testing
import Time

/// Requests over TLS, from a client's handshake to the end of the connection.
@Suite("TLS towards clients")
struct TLSTests {
  private static func bench(
    _ server: TLSServer, upstream: @escaping ScriptedUpstream.Script = ScriptedUpstream.plain, workers: Int = 1
  ) -> Bench.Setup {
    Bench.Setup(workers: workers, upstream: upstream) { $0.listenerTLS = [server] }
  }

  private static func get(_ target: String, _ fields: String = "") -> String {
    "GET \(target) HTTP/1.1\r\nHost: gateway.test\r\n\(fields)\r\n"
  }

  @Test(
    "A request passes over TLS 1.2 and 1.3, and the upstream gets X-Forwarded-Proto: https",
    arguments: [TLSVersion.v12, .v13])
  func versions(version: TLSVersion) async throws {
    let tls = try TestCertificates.client(to: version)
    try await Self.bench(try TestCertificates.server()).run { _, bench in
      let client = try await bench.connect(tls)
      let layer = client.socket.layer as? TLSLayer
      #expect(layer?.version == (version == .v12 ? "TLSv1.2" : "TLSv1.3"))
      #expect(layer?.applicationProtocol == "http/1.1")
      for target in ["/a", "/b"] {
        try await client.send(Self.get(target))
        #expect(try await client.readResponse().text == target)
      }
      #expect(bench.upstream.requests.map { $0["X-Forwarded-Proto"] } == ["https", "https"])
      #expect(bench.upstream.connections == 1)
    }
  }

  @Test("TLS 1.0 and 1.1 are refused with a protocol_version alert", arguments: [UInt8(1), 2])
  func oldVersions(minor: UInt8) async throws {
    try await Self.bench(try TestCertificates.server()).run { _, bench in
      let client = try await bench.connect()
      // A ClientHello without extensions, with two suites of those versions.
      let hello: [UInt8] =
        [3, minor] + [UInt8](repeating: 7, count: 32) + [0, 0, 4, 0xc0, 0x13, 0x00, 0x2f, 1, 0]
      let message: [UInt8] = [1, 0, 0, UInt8(hello.count)] + hello
      try await client.send([22, 3, 1, 0, UInt8(message.count)] + message)
      let answer = try await client.takeRest()
      // A fatal alert of two bytes: protocol_version (RFC 8446, section 6.2).
      #expect(answer.first == 21 && Array(answer.suffix(2)) == [2, 70])
    }
  }

  @Test("A listener that requires TLS 1.3 refuses TLS 1.2")
  func minimum() async throws {
    let server = try TestCertificates.server { $0.minimumVersion = .v13 }
    let old = try TestCertificates.client(to: .v12)
    let new = try TestCertificates.client()
    try await Self.bench(server).run { _, bench in
      #expect(await bench.failure(old) != nil)
      try await bench.connect(new).send(Self.get("/"))
    }
  }

  @Test("A client that offers only another application protocol is refused")
  func applicationProtocol() async throws {
    let server = try TestCertificates.server()
    let tls = try TestCertificates.client(protocols: ["imap"])
    try await Self.bench(server).run { _, bench in
      #expect(await bench.failure(tls) == .refused("tlsv1 alert no application protocol"))
    }
  }

  @Test("Each name gets its certificate, and an unknown name gets the first one")
  func names() async throws {
    let server = try TestCertificates.server(["gateway", "other"])
    let clients = try ["gw.example", "other.example", "OTHER.example", "a.wild.example"].map {
      try TestCertificates.client($0)
    }
    let unknown = try TestCertificates.client("a.b.wild.example")
    try await Self.bench(server).run { _, bench in
      for client in clients { _ = try await bench.connect(client) }
      #expect(await bench.failure(unknown) == .untrusted("hostname mismatch"))
    }
  }

  @Test("A session resumes on another worker and after a reload", arguments: [TLSVersion.v12, .v13])
  func resumption(version: TLSVersion) async throws {
    let tickets = TicketKeys()
    let before = try TestCertificates.server(tickets: tickets)
    let after = try TestCertificates.server(["gateway", "other"], tickets: tickets)
    let tls = try TestCertificates.client(to: version)
    try await Self.bench(before, workers: 2).run { _, bench in
      for round in 0..<4 {
        if round == 2 { await bench.reload { $0.listenerTLS = [after] } }
        let client = try await bench.connect(tls)
        try await client.send(Self.get("/"))
        // Tickets of TLS 1.3 come after the handshake.
        _ = try await client.readResponse()
        #expect((client.socket.layer as? TLSLayer)?.isResumed == (round > 0))
      }
    }
  }

  @Test("Connections keep their certificate over a reload, and new connections get the new one")
  func reload() async throws {
    let before = try TestCertificates.server()
    let after = try TestCertificates.server(["other"])
    let tls = try TestCertificates.client()
    let other = try TestCertificates.client("other.example")
    try await Self.bench(before).run { _, bench in
      let client = try await bench.connect(tls)
      try await client.send(Self.get("/before"))
      #expect(try await client.readResponse().text == "/before")
      await bench.reload { $0.listenerTLS = [after] }
      try await client.send(Self.get("/after"))
      #expect(try await client.readResponse().text == "/after")
      #expect(await bench.failure(tls) != nil)
      try await bench.connect(other).send(Self.get("/new"))
    }
  }

  @Test("Large bodies arrive complete in both directions, at any pace of the client")
  func large() async throws {
    let body = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    let tls = try TestCertificates.client()
    try await Self.bench(try TestCertificates.server()) { upstream, peer in
      let request = try await upstream.read(peer)
      try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(request.body.count)\r\n\r\n")
      try await peer.send(request.body)
    }.run { _, bench in
      let client = try await bench.connect(tls)
      try await client.send("POST /up HTTP/1.1\r\nHost: gateway.test\r\nContent-Length: \(body.count)\r\n\r\n")
      try await client.send(body)
      // The client reads nothing until the gateway cannot write any more.
      await bench.poller.pause(100)
      let answer = try await client.readResponse()
      #expect(answer.body == body)
      #expect(bench.upstream.requests.first?.body == body)
    }
  }

  @Test("A client that shuts down its sending side still gets its response, and then close_notify")
  func halfClose() async throws {
    let tls = try TestCertificates.client()
    try await Self.bench(try TestCertificates.server()).run { _, bench in
      await bench.reload { $0.cancelsHalfClosed = false }
      let client = try await bench.connect(tls)
      try await client.send(Self.get("/last"))
      client.socket.shutdownWrite()
      #expect(try await client.readResponse().text == "/last")
      #expect(try await client.waitForEnd() == .end)
    }
  }

  @Test("A connection that the gateway closes ends with close_notify")
  func closeNotify() async throws {
    let tls = try TestCertificates.client()
    try await Self.bench(try TestCertificates.server()).run { _, bench in
      let client = try await bench.connect(tls)
      try await client.send(Self.get("/", "Connection: close\r\n"))
      _ = try await client.readResponse()
      #expect(try await client.waitForEnd() == .end)
    }
  }

  @Test("A truncated response does not end with close_notify")
  func cutOff() async throws {
    let tls = try TestCertificates.client()
    try await Self.bench(try TestCertificates.server()) { upstream, peer in
      _ = try await upstream.read(peer)
      try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345")
    }.run { _, bench in
      let client = try await bench.connect(tls)
      try await client.send(Self.get("/"))
      #expect(try await client.waitForEnd() == .reset)
    }
  }

  @Test(
    "A client that does not finish its handshake in time loses the connection",
    arguments: ["", "\u{16}\u{3}\u{1}\u{1}"])
  func slow(bytes: String) async throws {
    let server = try TestCertificates.server { $0.handshakeTimeout = 200 }
    let counted = CountedHandshakes()
    var setup = Self.bench(server)
    setup.metrics = { counted.metrics }
    try await setup.run { _, bench in
      let client = try await bench.connect()
      if !bytes.isEmpty { try await client.send(bytes) }
      _ = try await client.waitForEnd()
      await bench.eventually("it is counted") { counted.failed == 1 }
    }
  }

  @Test("Plain HTTP on a TLS port gets 400")
  func plain() async throws {
    try await Self.bench(try TestCertificates.server()).run { _, bench in
      let answer = try await bench.exchange(Self.get("/"))
      #expect(answer.status == 400)
      #expect(bench.upstream.connections == 0)
    }
  }

  @Test("In a flood of handshakes every client is served")
  func flood() async throws {
    let counted = CountedHandshakes()
    var setup = Self.bench(try TestCertificates.server())
    setup.metrics = { counted.metrics }
    let tls = try TestCertificates.client()
    try await setup.run { _, bench in
      let left = Remaining(60)
      for _ in 0..<60 {
        bench.poller.start(
          PeerTask {
            guard let client = try? await bench.connect(tls) else { return }
            try? await client.send(Self.get("/"))
            if (try? await client.readResponse().status) == 200 { left.value -= 1 }
          })
      }
      await bench.eventually("all are answered") { left.value == 0 }
      #expect(counted.finished == 60)
      #expect(counted.failed == 0)
    }
  }

  private final class Remaining {
    var value: Int
    init(_ value: Int) { self.value = value }
  }

  // MARK: Client certificates

  @Test("A client without a certificate of the right authority is refused", arguments: [TLSVersion.v12, .v13])
  func clientCertificates(version: TLSVersion) async throws {
    let server = try TestCertificates.server {
      $0.clientAuthorities = try TestCertificates.chain("client-ca")
      $0.requiresClientCertificate = true
    }
    let right = try TestCertificates.client(identity: "client", to: version)
    let wrong = try [nil, "stranger"].map { try TestCertificates.client(identity: $0, to: version) }
    try await Self.bench(server).run { _, bench in
      let client = try await bench.connect(right)
      try await client.send(Self.get("/mine"))
      #expect(try await client.readResponse().text == "/mine")
      for tls in wrong {
        // With TLS 1.3 the client learns of the refusal only with its first read.
        guard let client = try? await bench.connect(tls) else { continue }
        try? await client.send(Self.get("/"))
        #expect(try await client.waitForEnd() == .reset)
      }
      #expect(bench.upstream.requests.count == 1)
    }
  }

  @Test("An optional certificate may be omitted, but a wrong one is refused")
  func requested() async throws {
    let server = try TestCertificates.server { $0.clientAuthorities = try TestCertificates.chain("client-ca") }
    let none = try TestCertificates.client(to: .v12)
    let wrong = try TestCertificates.client(identity: "stranger", to: .v12)
    try await Self.bench(server).run { _, bench in
      try await bench.connect(none).send(Self.get("/"))
      #expect(await bench.failure(wrong) != nil)
    }
  }

  @Test("A session is not resumed if clients need a certificate of another authority")
  func scope() async throws {
    let tickets = TicketKeys()
    let open = try TestCertificates.server(tickets: tickets)
    let closed = try TestCertificates.server(tickets: tickets) {
      $0.clientAuthorities = try TestCertificates.chain("client-ca")
      $0.requiresClientCertificate = true
    }
    let tls = try TestCertificates.client(to: .v12)
    try await Self.bench(open).run { _, bench in
      try await bench.connect(tls).send(Self.get("/"))
      await bench.reload { $0.listenerTLS = [closed] }
      #expect(await bench.failure(tls) != nil)
    }
  }
}

/// The handshake outcomes that the proxy reports.
final class CountedHandshakes: Sendable {
  private let outcomes = Mutex<[HandshakeOutcome]>([])
  private let reasons = Mutex<[TLSFailure]>([])

  var failed: Int { outcomes.withLock { $0.count { $0 == .failed } } }
  var finished: Int { outcomes.withLock { $0.count { $0 != .failed } } }
  /// The reasons why connections to the upstream failed.
  var upstream: [TLSFailure] { reasons.withLock { $0 } }
  var metrics: any ProxyMetrics { Metrics(self) }

  private final class Metrics: ProxyMetrics {
    private let owner: CountedHandshakes

    init(_ owner: CountedHandshakes) {
      self.owner = owner
    }

    func requestFinished(_ handling: RequestHandling, status: Int, nanoseconds: UInt64) {}
    func upstreamAnswered(nanoseconds: UInt64) {}
    func upstreamFailed(_ failure: UpstreamFailure) {}
    func grpcRefused() {}
    func recordLimit(_ limit: LimitKind) {}
    func connectionOpened() {}
    func connectionClosed() {}
    func http2ConnectionOpened() {}
    func http2StreamOpened() {}
    func upstreamConnectionOpened() {}
    func upstreamConnectionClosed() {}
    func acceptingPaused() {}
    func acceptingResumed() {}
    func handshakeFinished(_ outcome: HandshakeOutcome) { owner.outcomes.withLock { $0.append(outcome) } }
    func upstreamHandshakeFailed(_ failure: TLSFailure) { owner.reasons.withLock { $0.append(failure) } }
  }
}
