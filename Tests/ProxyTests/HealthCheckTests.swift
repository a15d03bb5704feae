import Reactor
import Synchronization
import TLS
import TLSTestSupport
import Testing
import Time

@testable import Proxy

@Suite("Active checks of the upstream's addresses")
struct HealthCheckTests {
  /// - Parameter timeout: Short only where the server of the test does not answer.
  private static func check(failures: Int = 2, successes: Int = 2, timeout: Milliseconds = 60_000) -> HealthCheck {
    var check = HealthCheck(path: "/health", interval: 30, timeout: timeout)
    check.failures = failures
    check.successes = successes
    return check
  }

  // MARK: The state of an address

  @Test("Failures in succession take an address out of service, and successes in succession return it")
  func thresholds() {
    let address = UpstreamAddress(.unixSocket(path: "/a"), id: 1)
    let check = Self.check(failures: 3, successes: 2)
    func note(_ failure: String?) -> HealthCheckResults.Change? { address.noteCheck(failure, check, now: 1_000) }
    #expect(note("a") == nil && note("b") == nil && note(nil) == nil && note("c") == nil && note("d") == nil)
    #expect(!address.isOut)
    #expect(note("e") == .out)
    #expect(address.isOut && address.checkResults.problem == "e")
    #expect(note("f") == nil && address.checkResults.problem == "f")
    #expect(note(nil) == nil && note("g") == nil && note(nil) == nil && address.isOut)
    #expect(note(nil) == .back)
    #expect(!address.isOut && address.checkResults.problem == nil)
    #expect(address.checkResults.passed == 4 && address.checkResults.failed == 7)
  }

  @Test("An address that fails its checks is not tested by requests, and a connection does not return it")
  func passiveReturn() {
    let address = UpstreamAddress(.unixSocket(path: "/a"), id: 1)
    let check = Self.check(failures: 1, successes: 1)
    address.takeOut(now: 1_000, isOfConnect: true)
    #expect(address.noteCheck("a", check, now: 1_000) == .out)
    #expect(!address.beginTest(now: 1_000_000, atMost: 1))
    address.putBack(now: 2_000)
    #expect(address.isOut)
    #expect(address.noteCheck(nil, check, now: 2_000) == .back)
    #expect(!address.isOut)
  }

  @Test("Successes end an outage after a failed connect, not one after failed responses")
  func outages() {
    let check = Self.check(failures: 1, successes: 2)
    for (isOfConnect, isOut) in [(true, false), (false, true)] {
      let address = UpstreamAddress(.unixSocket(path: "/a"), id: 1)
      for _ in 0..<5 { #expect(address.noteCheck(nil, check, now: 500) == nil) }
      address.takeOut(now: 1_000, isOfConnect: isOfConnect)
      #expect(address.noteCheck(nil, check, now: 1_000) == nil && address.isOut)
      #expect(address.noteCheck(nil, check, now: 1_000) == nil && address.isOut == isOut)
    }
  }

  @Test("An outage that requests cause lasts as long with checks as without, and survives their end")
  func independent() {
    let address = UpstreamAddress(.unixSocket(path: "/a"), id: 1)
    let check = Self.check(failures: 1, successes: 1)
    _ = address.noteCheck("a", check, now: 1_000)
    address.takeOut(now: 1_000)
    address.endChecks()
    #expect(address.isOut && address.returnTime == 11_000)
    #expect(address.checkResults == HealthCheckResults())
    address.putBack(now: 11_000)
    #expect(!address.isOut)
  }

  // MARK: Checks

  /// Answers health checks with the status that `healthy` returns, and other requests with the name of the server.
  private static func script(_ name: String, _ answer: @escaping @Sendable () -> String) -> ScriptedUpstream.Script {
    { upstream, peer in
      while true {
        let request = try await upstream.read(peer)
        if request.target == "/health" {
          try await peer.send(answer())
        } else {
          try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(name.utf8.count)\r\n\r\n\(name)")
        }
      }
    }
  }

  private static let healthy = "HTTP/1.1 204 No Content\r\n\r\n"

  private static func address(_ bench: Bench, at index: Int = 0) async -> UpstreamAddress? {
    let found = Mutex<UpstreamAddress?>(nil)
    await bench.server.update { proxy in
      let addresses = proxy.pool.servers.addresses
      found.withLock { $0 = index < addresses.count ? addresses[index] : nil }
    }
    return found.withLock { $0 }
  }

  private static func setup(
    _ script: @escaping ScriptedUpstream.Script, workers: Int = 1, _ check: HealthCheck = check()
  ) -> Bench.Setup {
    Bench.Setup(workers: workers, upstream: script, configure: { $0.healthCheck = check })
  }

  @Test("One of several workers sends the requests, which have the fields of the gateway and new connections")
  func requests() async throws {
    try await Self.setup(Self.script("a") { Self.healthy }, workers: 3).run { _, bench in
      await bench.eventually("there are three checks") { bench.upstream.requests.count >= 3 }
      #expect(bench.upstream.connections - bench.upstream.requests.count <= 1)
      let request = try #require(bench.upstream.requests.first)
      #expect(request.startLine == "GET /health HTTP/1.1")
      #expect(request["Host"] == "upstream.test" && request["Connection"] == "close" && request["Via"] != nil)
      let address = try #require(await Self.address(bench))
      #expect(!address.isOut && address.checkResults.failed == 0 && address.checkResults.passed > 0)
    }
  }

  @Test(
    "A wrong status, no answer, a broken answer and an endless one are failures",
    arguments: [
      "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 404 Gone\r\nContent-Length: 0\r\n\r\n", "",
      "hello\r\n\r\n", "HTTP/1.1 200 OK\r\nX: " + String(repeating: "x", count: 20_000), "HTTP/1.1 200 OK\r\n",
    ])
  func failures(_ answer: String) async throws {
    let isHealthy = Atomic<Bool>(false)
    let script = Self.script("a") { isHealthy.load(ordering: .relaxed) ? Self.healthy : answer }
    try await Self.setup(script, Self.check(timeout: 100)).run { _, bench in
      await bench.eventually("the address has left service") { await Self.address(bench)?.isOut ?? false }
      #expect(await Self.address(bench)?.checkResults.problem != nil)
      // The only address gets requests in spite of that.
      let response = try await bench.get("/")
      #expect(response.text == "a")
      #expect(await Self.address(bench)?.isOut == true)
      isHealthy.store(true, ordering: .relaxed)
      await bench.eventually("it has returned") { await Self.address(bench)?.isOut == false }
    }
  }

  @Test("Requests avoid an address that fails its checks, and use it again when they pass")
  func avoided() async throws {
    let isHealthy = Atomic<Bool>(true)
    let script = Self.script("first") { isHealthy.load(ordering: .relaxed) ? Self.healthy : "HTTP/1.1 500 No\r\n\r\n" }
    // A check of a server that has gone lasts until its timeout, so the test does too.
    var setup = Self.setup(script, Self.check(timeout: 3_000))
    setup.servers = { address in
      [.host("127.0.0.1", port: address.port), .host("127.0.0.2", port: address.port)]
    }
    try await setup.run { worker, bench in
      let other = try ScriptedUpstream(
        on: worker, host: "127.0.0.2", port: bench.upstream.address.port, Self.script("second") { Self.healthy })
      let before = try await bench.get("/")
      #expect(before.text == "first")
      isHealthy.store(false, ordering: .relaxed)
      await bench.eventually("the first address has left service") { await Self.address(bench)?.isOut ?? false }
      for _ in 0..<3 {
        let response = try await bench.get("/")
        #expect(response.text == "second")
      }
      isHealthy.store(true, ordering: .relaxed)
      await bench.eventually("it has returned") { await Self.address(bench)?.isOut == false }
      let after = try await bench.get("/")
      #expect(after.text == "first")
      await bench.server.update { $0.endHealthChecks() }
      await bench.eventually("the other server has no script") {
        other.closeAll()
        return other.running == 0
      }
    }
  }

  @Test("A server on a Unix socket is checked, also if it does not listen")
  func unixSocket() async throws {
    let path = "@proofgate-\(UInt64.random(in: 0...UInt64.max))"
    var setup = Self.setup(ScriptedUpstream.plain)
    setup.servers = { _ in [.unixSocket(path: path)] }
    try await setup.run { worker, bench in
      await bench.eventually("the address has left service") { await Self.address(bench)?.isOut ?? false }
      let server = try ScriptedUpstream(on: worker, unixSocket: path, Self.script("a") { Self.healthy })
      await bench.eventually("it has returned") { await Self.address(bench)?.isOut == false }
      await bench.reload { $0.healthCheck = nil }
      await bench.eventually("the server has no script") {
        server.closeAll()
        return server.running == 0
      }
    }
  }

  @Test("A server with TLS is checked, and one that does not prove its name fails", arguments: [true, false])
  func tls(isTrusted: Bool) async throws {
    let client = try TestCertificates.client(isTrusted ? "127.0.0.1" : "other.example")
    var setup = Bench.Setup(upstream: Self.script("a") { Self.healthy }, upstreamTLS: try TestCertificates.server())
    setup.configure = {
      $0.upstreamTLS = client
      $0.healthCheck = Self.check()
    }
    try await setup.run { _, bench in
      await bench.eventually("there are results") {
        let results = await Self.address(bench)?.checkResults
        return (results?.passed ?? 0) + (results?.failed ?? 0) >= 3
      }
      let address = try #require(await Self.address(bench))
      #expect(address.isOut == !isTrusted)
      #expect(address.checkResults.problem?.hasPrefix("no TLS connection: ") ?? isTrusted)
    }
  }

  @Test("A reload begins, changes and ends the checks")
  func reload() async throws {
    var setup = Self.setup(Self.script("a") { "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n" })
    setup.configure = { $0.healthCheck = nil }
    try await setup.run { _, bench in
      _ = try await bench.get("/")
      #expect(bench.upstream.requests.count == 1)
      await bench.reload { $0.healthCheck = Self.check() }
      await bench.eventually("the address has left service") { await Self.address(bench)?.isOut ?? false }
      await bench.reload { $0.healthCheck = nil }
      #expect(await Self.address(bench)?.isOut == false)
      await bench.eventually("checks in progress have ended") { await bench.counters().sockets <= 2 }
      let count = bench.upstream.requests.count
      await bench.poller.pause(150)
      #expect(bench.upstream.requests.count == count)
    }
  }
}
