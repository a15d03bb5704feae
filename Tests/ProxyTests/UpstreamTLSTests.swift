import Proxy
import Reactor
import TLS
import TLSTestSupport
import Testing
import Time

/// An upstream over TLS: its identity, and the ends of its responses.
@Suite("TLS towards the upstream")
struct UpstreamTLSTests {
  private static func bench(
    _ server: TLSServer, _ client: TLSClient, upstream: @escaping ScriptedUpstream.Script = ScriptedUpstream.plain
  ) -> Bench.Setup {
    Bench.Setup(upstream: upstream, upstreamTLS: server) { $0.upstreamTLS = client }
  }

  @Test("Requests share a connection to an upstream with a valid certificate", arguments: [TLSVersion.v12, .v13])
  func verified(version: TLSVersion) async throws {
    let client = try TestCertificates.client("127.0.0.1", to: version)
    try await Self.bench(try TestCertificates.server(), client).run { _, bench in
      for target in ["/a", "/b", "/c"] {
        let answer = try await bench.get(target)
        #expect(answer.text == target)
      }
      #expect(bench.upstream.connections == 1)
    }
  }

  @Test("Later connections resume the session")
  func resumed() async throws {
    let client = try TestCertificates.client("127.0.0.1")
    let script: ScriptedUpstream.Script = { upstream, peer in
      let request = try await upstream.read(peer)
      let resumed = (peer.socket.layer as? TLSLayer)?.isResumed ?? false
      upstream.notes.append("\(request.target) \(resumed)")
      try await peer.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
    }
    try await Self.bench(try TestCertificates.server(), client, upstream: script).run { _, bench in
      for target in ["/a", "/b"] {
        let answer = try await bench.get(target)
        #expect(answer.status == 200)
      }
      #expect(bench.upstream.notes == ["/a false", "/b true"])
    }
  }

  private struct Stranger: Sendable, CustomTestStringConvertible {
    let certificate: String
    let name: String
    let authority: String
    let reason: TLSFailure

    var testDescription: String { "\(certificate) for \(name)" }
  }

  private static let strangers = [
    Stranger(
      certificate: "alone", name: "localhost", authority: "server-ca", reason: .untrusted("self-signed certificate")),
    Stranger(
      certificate: "gateway", name: "localhost", authority: "client-ca",
      reason: .untrusted("unable to get local issuer certificate")),
    Stranger(
      certificate: "gateway", name: "legacy.example", authority: "server-ca", reason: .untrusted("hostname mismatch")),
    Stranger(
      certificate: "other", name: "127.0.0.1", authority: "server-ca", reason: .untrusted("IP address mismatch")),
    Stranger(
      certificate: "expired", name: "localhost", authority: "server-ca", reason: .untrusted("certificate has expired")),
  ]

  @Test("An upstream without a valid certificate gets nothing, and the client gets 502", arguments: strangers)
  private func unverified(stranger: Stranger) async throws {
    let client = try TestCertificates.client(stranger.name, authority: stranger.authority)
    let counted = CountedHandshakes()
    var setup = Self.bench(try TestCertificates.server([stranger.certificate]), client)
    setup.metrics = { counted.metrics }
    try await setup.run { _, bench in
      let answer = try await bench.get("/")
      #expect(answer.status == 502)
      let collected = try await bench.get("/intercept/collect")
      #expect(collected.status == 502)
      #expect(bench.upstream.requests.isEmpty)
      #expect(counted.upstream == [stranger.reason, stranger.reason])
    }
  }

  @Test("A server on a Unix socket must have a certificate for its name", arguments: ["gw.example", "other.example"])
  func unixSocket(_ name: String) async throws {
    let isTrusted = name == "gw.example"
    let path = "@proofgate-\(UInt64.random(in: 0...UInt64.max))"
    let client = try TestCertificates.client(name)
    let tls = try TestCertificates.server()
    let setup = Bench.Setup(configure: { $0.upstreamTLS = client }, servers: { _ in [.unixSocket(path: path)] })
    try await setup.run { worker, bench in
      let server = try ScriptedUpstream(on: worker, unixSocket: path, tls: tls, ScriptedUpstream.plain)
      for target in ["/a", "/b"] {
        let answer = try await bench.get(target)
        #expect(answer.status == (isTrusted ? 200 : 502))
        if isTrusted { #expect(answer.text == target) }
      }
      #expect(server.requests.count == (isTrusted ? 2 : 0))
      if isTrusted { #expect(server.connections == 1) }
      await bench.eventually("the server has no script") {
        server.closeAll()
        return server.running == 0
      }
    }
  }

  @Test("A plaintext server at an https address is refused")
  func plaintext() async throws {
    let client = try TestCertificates.client("127.0.0.1")
    var setup = Bench.Setup()
    setup.upstream = { _, peer in try await peer.send("HTTP/1.1 200 OK\r\n\r\n") }
    setup.configure = { $0.upstreamTLS = client }
    try await setup.run { _, bench in
      let answer = try await bench.get("/")
      #expect(answer.status == 502)
    }
  }

  @Test("A server that does not answer the handshake is given up at the connect timeout")
  func silent() async throws {
    let client = try TestCertificates.client("127.0.0.1")
    var setup = Bench.Setup()
    setup.upstream = { _, peer in _ = try await peer.waitForEnd() }
    setup.configure = {
      $0.upstreamTLS = client
      $0.connectTimeout = 200
    }
    try await setup.run { _, bench in
      let answer = try await bench.get("/")
      #expect(answer.status == 504)
    }
  }

  @Test("The gateway presents its certificate to a server that asks for one")
  func clientCertificate() async throws {
    let server = try TestCertificates.server {
      $0.clientAuthorities = try TestCertificates.chain("client-ca")
      $0.requiresClientCertificate = true
    }
    try await Self.bench(server, try TestCertificates.client("127.0.0.1", identity: "client")).run { _, bench in
      let answer = try await bench.get("/")
      #expect(answer.status == 200)
    }
    try await Self.bench(server, try TestCertificates.client("127.0.0.1")).run { _, bench in
      let answer = try await bench.get("/")
      #expect(answer.status == 502)
      #expect(bench.upstream.requests.isEmpty)
    }
  }

  @Test(
    "A body that ends with the connection is complete with close_notify and cut without it", arguments: [true, false])
  func truncation(announces: Bool) async throws {
    let client = try TestCertificates.client("127.0.0.1")
    let script: ScriptedUpstream.Script = { upstream, peer in
      _ = try await upstream.read(peer)
      try await peer.send("HTTP/1.1 200 OK\r\n\r\nthe whole of it")
      // Without close_notify only the TCP connection ends, as an attacker on the network could do it.
      if !announces { peer.socket.layer?.abandon() }
    }
    try await Self.bench(try TestCertificates.server(), client, upstream: script).run { _, bench in
      let peer = try await bench.connect()
      try await peer.send("GET / HTTP/1.1\r\nHost: gateway.test\r\n\r\n")
      let received = String(
        decoding: try await (announces ? peer.take(through: "0\r\n\r\n") : peer.takeRest()), as: UTF8.self)
      #expect(received.hasSuffix("0\r\n\r\n") == announces, "\(received)")
    }
  }

  @Test("After a reload with other authorities an idle connection is not used again")
  func reload() async throws {
    let before = try TestCertificates.client("127.0.0.1")
    let after = try TestCertificates.client("127.0.0.1", authority: "client-ca")
    try await Self.bench(try TestCertificates.server(), before).run { _, bench in
      let answer = try await bench.get("/")
      #expect(answer.status == 200)
      await bench.reload { $0.upstreamTLS = after }
      let later = try await bench.get("/")
      #expect(later.status == 502)
      #expect(bench.upstream.requests.count == 1)
    }
  }

  @Test("A connection that is in use during a reload with other authorities is not used again")
  func reloadInUse() async throws {
    let before = try TestCertificates.client("127.0.0.1")
    let after = try TestCertificates.client("127.0.0.1", authority: "client-ca")
    let script: ScriptedUpstream.Script = { upstream, peer in
      while true {
        _ = try await upstream.read(peer)
        while !upstream.notes.contains("go") { try await upstream.pause(peer) }
        try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
      }
    }
    try await Self.bench(try TestCertificates.server(), before, upstream: script).run { _, bench in
      let client = try await bench.connect()
      try await client.send("GET / HTTP/1.1\r\nHost: gateway.test\r\n\r\n")
      await bench.eventually("the request is upstream") { bench.upstream.requests.count == 1 }
      await bench.reload { $0.upstreamTLS = after }
      bench.upstream.notes = ["go"]
      let answer = try await client.readResponse()
      #expect(answer.status == 200)
      let later = try await bench.get("/")
      #expect(later.status == 502)
      #expect(bench.upstream.requests.count == 1)
    }
  }

  @Test("Large bodies arrive complete in both directions")
  func large() async throws {
    let body = (0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 37 >> 4) }
    let client = try TestCertificates.client("127.0.0.1")
    let script: ScriptedUpstream.Script = { upstream, peer in
      let request = try await upstream.read(peer)
      try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(request.body.count)\r\n\r\n")
      try await peer.send(request.body)
    }
    try await Self.bench(try TestCertificates.server(), client, upstream: script).run { _, bench in
      let peer = try await bench.connect()
      try await peer.send("POST /up HTTP/1.1\r\nHost: gateway.test\r\nContent-Length: \(body.count)\r\n\r\n")
      try await peer.send(body)
      #expect(try await peer.readResponse().body == body)
    }
  }
}
