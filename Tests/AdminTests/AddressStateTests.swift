import ClientTestSupport
import HTTP
import LegacyServer
import Reactor
import Synchronization
import Telemetry
import Testing
import Time

@testable import Admin
@testable import Proxy

/// The states of the addresses of the upstream in the answers of the admin listener.
@Suite("Addresses of the upstream")
struct AddressStateTests {
  private final class ProbeTask: Activity {
    private let probe: UpstreamProbe
    private let done: (UpstreamProbeResult) -> Void

    init(_ probe: UpstreamProbe, _ done: @escaping (UpstreamProbeResult) -> Void) {
      self.probe = probe
      self.done = done
    }

    func run() async { done(await probe.test()) }
  }

  /// Tests the addresses `hosts` with the port of a server on 127.0.0.1.
  ///
  /// - Parameter prepare: Changes the addresses before the test.
  private static func test(
    _ hosts: [String], _ prepare: ([UpstreamAddress]) -> Void = { _ in }
  ) async throws -> (result: UpstreamProbeResult, port: Int) {
    let legacy = try await LegacyService(LegacyAuthorizationServer(LegacyConfiguration(clients: [])))
    let servers = UpstreamServers(hosts.map { .host($0, port: legacy.port) })
    prepare(servers.refresh(now: 0).addresses)
    let worker = try Worker(index: 0)
    try worker.start(name: "probe")
    let found = Mutex<UpstreamProbeResult?>(nil)
    let isDone = try ThreadSignal()
    await worker.perform { worker in
      let probe = UpstreamProbe(worker.poller, servers) { nil }
      worker.run(
        ProbeTask(probe) { result in
          found.withLock { $0 = result }
          isDone.signal()
        })
    }
    _ = try await OSThread.run("wait") { isDone.wait() }
    await worker.stop()
    await legacy.stop()
    return (try #require(found.withLock { $0 }), legacy.port)
  }

  @Test("The upstream is ready while one address accepts connections, and each address has its state")
  func oneOfTwo() async throws {
    let (result, port) = try await Self.test(["127.0.0.9", "127.0.0.1"])
    #expect(result.problem == nil)
    #expect(result.addresses.map(\.name) == ["127.0.0.9:\(port)", "127.0.0.1:\(port)"])
    #expect(result.addresses.map { $0.problem == nil } == [false, true])
  }

  @Test("Without an address that accepts connections, all problems are named")
  func none() async throws {
    let (result, port) = try await Self.test(["127.0.0.9", "127.0.0.8"])
    let problem = try #require(result.problem)
    #expect(!result.isReachable)
    #expect(problem.contains("127.0.0.9:\(port): ") && problem.contains("127.0.0.8:\(port): "))
  }

  @Test("An address that fails its health check has this problem, although it accepts connections")
  func healthCheck() async throws {
    let (result, port) = try await Self.test(["127.0.0.1"]) { addresses in
      var check = HealthCheck(path: "/health", interval: 1_000, timeout: 100)
      check.failures = 1
      for address in addresses { _ = address.noteCheck("status 503", check, now: 0) }
    }
    #expect(result.problem == "127.0.0.1:\(port): the health check fails: status 503")
    #expect(result.addresses.map(\.isOutOfService) == [true] && result.isReachable)
  }

  @Test("The listener shows each of several addresses, and is ready while one of them is usable")
  func listener() async throws {
    let admin = try await AdminFixture(hosts: ["127.0.0.9", "127.0.0.1"])
    admin.status.beginServing([])
    let addresses = admin.servers.refresh(now: SystemClock.monotonicTime()).addresses
    try #require(addresses.count == 2)
    addresses[0].takeOut(now: SystemClock.monotonicTime())
    let (dead, usable) = (addresses[0].name, addresses[1].name)
    let answer = try await Fetch.get(admin.port, "/readyz")
    #expect(answer.status == 200)
    #expect(
      Fetch.text(answer).hasPrefix(
        #"{"addresses":[{"address":"\#(dead)","detail":"Connection refused","in_service":false,"ok":false},"#
          + #"{"address":"\#(usable)","in_service":true,"ok":true}],"#))
    let metrics = Fetch.text(try await Fetch.get(admin.port, "/metrics"))
    for (name, value) in [(dead, 0), (usable, 1)] {
      #expect(metrics.contains("proofgate_upstream_address_in_service{address=\"\(name)\"} \(value)\n"))
    }
    await admin.stop()
  }

  @Test("The metrics of an address have its name as a label")
  func metrics() {
    let text = PrometheusText.render(
      MetricsRegistry(workers: 1, policyVersion: "1").snapshot(), process: .current(), version: "1", startTime: 0,
      addresses: [
        UpstreamAddressSeries(
          address: "[::1]:80", isInService: false, requests: 7, failures: 3, connections: 2, checks: (5, 4))
      ])
    #expect(text.contains("proofgate_upstream_address_in_service{address=\"[::1]:80\"} 0\n"))
    #expect(text.contains("proofgate_upstream_address_requests_total{address=\"[::1]:80\"} 7\n"))
    #expect(text.contains("proofgate_upstream_address_failures_total{address=\"[::1]:80\"} 3\n"))
    #expect(text.contains("proofgate_upstream_address_connections{address=\"[::1]:80\"} 2\n"))
    #expect(text.contains("proofgate_upstream_health_checks_total{address=\"[::1]:80\",outcome=\"passed\"} 5\n"))
    #expect(text.contains("proofgate_upstream_health_checks_total{address=\"[::1]:80\",outcome=\"failed\"} 4\n"))
  }
}
