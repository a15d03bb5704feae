import ClientTestSupport
import Compression
import Glibc
import HTTP
import LegacyServer
import Policy
import PortTestSupport
import Proxy
import Reactor
import Synchronization
import Telemetry
import Testing
import Time

@testable import Admin

@Suite("The admin listener")
struct AdminServerTests {
  @Test("/healthz is 200 while the process answers")
  func health() async throws {
    let admin = try await AdminFixture()
    admin.status.beginDraining()
    #expect(try await Fetch.get(admin.port, "/healthz").status == 200)
    await admin.stop()
  }

  @Test("A process is ready when it serves and its upstream accepts connections")
  func ready() async throws {
    let admin = try await AdminFixture()
    let starting = try await Fetch.get(admin.port, "/readyz")
    #expect(starting.status == 503)
    #expect(Fetch.text(starting).contains(#"{"detail":"the process is starting","name":"serving","ok":false}"#))
    admin.status.beginServing([])
    let ready = try await Fetch.get(admin.port, "/readyz")
    #expect(ready.status == 200)
    #expect(Fetch.text(ready).hasSuffix("\"ready\":true}\n"))
    await admin.stop()
  }

  @Test("An outage of the store is a field of its own, and the process stays ready")
  func storeOutage() async throws {
    let admin = try await AdminFixture()
    admin.status.beginServing([])
    admin.status.metrics.setStoreActivityMeasurement {
      StoreActivitySeries(
        engine: "file", epoch: "1", outage: "the disk is full", buckets: [UInt64](repeating: 0, count: 21),
        nanoseconds: 0, failures: [])
    }
    let answer = try await Fetch.get(admin.port, "/readyz")
    #expect(answer.status == 200)
    #expect(
      Fetch.text(answer).hasSuffix(
        "\"ready\":true,\"store\":{\"detail\":\"the disk is full\",\"name\":\"file\",\"ok\":false}}\n"))
    await admin.stop()
  }

  @Test("A draining process is not ready and does not become ready again")
  func draining() async throws {
    let admin = try await AdminFixture()
    admin.status.beginDraining()
    admin.status.beginServing([])
    let answer = try await Fetch.get(admin.port, "/readyz")
    #expect(answer.status == 503)
    #expect(Fetch.text(answer).contains("the process is draining"))
    await admin.stop()
  }

  @Test("An upstream that refuses connections makes the process unready, and the response names it")
  func unreachable() async throws {
    let reserved = try ReservedPort()
    defer { withExtendedLifetime(reserved) {} }
    let port = reserved.number
    let admin = try await AdminFixture { _ in try AdminFixture.policy(upstreamPort: port) }
    admin.status.beginServing([])
    let answer = try await Fetch.get(admin.port, "/readyz")
    #expect(answer.status == 503)
    #expect(Fetch.text(answer).contains("http://127.0.0.1:\(port) cannot be reached"))
    #expect(Fetch.text(answer).contains("Connection refused"))
    await admin.stop()
  }

  @Test("A name look-up that takes too long makes the process unready, for every probe in that time")
  func slowLookUp() async throws {
    let upstream = try await LegacyService(LegacyAuthorizationServer(LegacyConfiguration(clients: [])))
    let port = upstream.port
    let mayAnswer = try ThreadSignal()
    let resolver = Resolver(host: "slow.test", port: port) { _, port in
      // Far longer than a probe may take, but not forever if the test does not end it.
      mayAnswer.pause(atMost: 60_000)
      return .success([Address(literal: "127.0.0.1", port: port)].compactMap { $0 })
    }
    let worker = try Worker(index: 0)
    try worker.start(name: "probes")
    let problems = Mutex<[String?]>([])
    await worker.perform { worker in
      let probe = UpstreamProbe(worker.poller, UpstreamServers([.name(resolver)])) { nil }
      for _ in 0..<3 { worker.run(ProbeTask(probe) { problem in problems.withLock { $0.append(problem) } }) }
    }
    for _ in 0..<6_000 where problems.withLock({ $0.count }) < 3 { try await Task.sleep(for: .milliseconds(10)) }
    let found = problems.withLock { $0 }
    #expect(found.count == 3)
    for problem in found { #expect(problem?.contains("within 900 ms") == true) }
    // The look-up answers its waiters in order. A loop that stops before the answer would leave tasks behind.
    let hasAnswered = try ThreadSignal()
    await worker.perform { worker in worker.run(LookUpTask(worker.poller, resolver) { hasAnswered.signal() }) }
    mayAnswer.signal()
    _ = try await OSThread.run("wait") { hasAnswered.wait() }
    await worker.stop()
    await upstream.stop()
  }

  @Test("A server on a Unix socket whose queue is full is busy; one that does not listen cannot be reached")
  func unixSocket() async throws {
    let name = "proofgate-\(UInt64.random(in: 0...UInt64.max))"
    let server = try Self.listen(onAbstractName: name)
    let worker = try Worker(index: 0)
    try worker.start(name: "probe")
    let problems = Mutex<[String?]>([])
    await worker.perform { worker in
      worker.run(UnixProbeTask(worker.poller, server, "@\(name)") { found in problems.withLock { $0 = found } })
    }
    for _ in 0..<6_000 where problems.withLock({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(10)) }
    await worker.stop()
    #expect(problems.withLock { $0 } == [nil, "unix:@\(name): Connection refused"])
  }

  /// Tests a server whose queue of connections is full, and tests it again after the server has closed its socket.
  private final class UnixProbeTask: Activity {
    private let poller: Poller
    private let server: Int32
    private let path: String
    private let done: ([String?]) -> Void

    init(_ poller: Poller, _ server: Int32, _ path: String, _ done: @escaping ([String?]) -> Void) {
      self.poller = poller
      self.server = server
      self.path = path
      self.done = done
    }

    func run() async {
      // The queue has room for one connection.
      let first = try? poller.connect(toUnixSocket: path)
      #expect(throws: IOError.wouldBlock) { try poller.connect(toUnixSocket: path) }
      let busy = await UpstreamProbe(poller, UpstreamServers([.unixSocket(path: path)])) { nil }.findProblem()
      first?.close()
      Glibc.close(server)
      done([busy, await UpstreamProbe(poller, UpstreamServers([.unixSocket(path: path)])) { nil }.findProblem()])
    }
  }

  /// Returns the descriptor of a Unix socket whose queue holds one connection.
  private static func listen(onAbstractName name: String) throws -> Int32 {
    let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = [0] + Array(name.utf8)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    let size = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    let result = unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(server, $0, size) }
    }
    guard result == 0, Glibc.listen(server, 0) == 0 else { throw IOError.invalidArgument }
    return server
  }

  private final class ProbeTask: Activity {
    private let probe: UpstreamProbe
    private let done: (String?) -> Void

    init(_ probe: UpstreamProbe, _ done: @escaping (String?) -> Void) {
      self.probe = probe
      self.done = done
    }

    func run() async { done(await probe.findProblem()) }
  }

  private final class LookUpTask: Activity {
    private let poller: Poller
    private let resolver: Resolver
    private let done: () -> Void

    init(_ poller: Poller, _ resolver: Resolver, _ done: @escaping () -> Void) {
      self.poller = poller
      self.resolver = resolver
      self.done = done
    }

    func run() async {
      _ = try? await resolver.resolve(on: poller)
      done()
    }
  }

  @Test("Replicas without a shared store are not ready")
  func replicas() async throws {
    let admin = try await AdminFixture { try AdminFixture.policy(upstreamPort: $0, replicas: 3) }
    admin.status.beginServing([])
    let answer = try await Fetch.get(admin.port, "/readyz")
    #expect(answer.status == 503)
    #expect(Fetch.text(answer).contains("3 replicas cannot share"))
    await admin.stop()
  }

  @Test("A loop without a turn for a second is stalled until its next turn")
  func stalled() async throws {
    let admin = try await AdminFixture()
    let worker = try Worker(index: 0)
    try worker.start(name: "stuck")
    admin.status.beginServing([worker.loop])
    let (entered, mayGoOn) = (try ThreadSignal(), try ThreadSignal())
    let stuck = Task {
      await worker.perform { _ in
        entered.signal()
        mayGoOn.wait()
      }
    }
    _ = try await OSThread.run("wait") { entered.wait() }
    let now = SystemClock.monotonicTime()
    #expect(admin.status.recordStalledLoops(now: now + 1_500) == 1)
    #expect(admin.status.metrics.snapshot().workersStalled == 1)
    mayGoOn.signal()
    await stuck.value
    // The loop takes a turn for this task, which ends the stall.
    await worker.perform { _ in }
    #expect(admin.status.recordStalledLoops(now: SystemClock.monotonicTime()) == 0)
    await worker.stop()
    await admin.stop()
  }

  @Test("Metrics are in the Prometheus text format")
  func metrics() async throws {
    let admin = try await AdminFixture()
    let answer = try await Fetch.get(admin.port, "/metrics")
    #expect(answer.headers["Content-Type"] == PrometheusText.contentType)
    #expect(Fetch.text(answer).contains("proofgate_policy_info{version=\"v1\"} 1\n"))
    #expect(Fetch.text(answer).contains("proofgate_build_info{version=\"0.0.1\"} 1\n"))
    await admin.stop()
  }

  @Test("Metrics are compressed for a client that accepts it, and Vary tells caches")
  func compressedMetrics() async throws {
    let admin = try await AdminFixture()
    let plain = try await Fetch.get(admin.port, "/metrics")
    #expect(plain.headers["Vary"] == "Accept-Encoding" && plain.headers["Content-Encoding"] == nil)
    var request = Request(method: "GET", target: "/metrics")
    request.headers.append("Accept-Encoding", "br, gzip;q=0.5")
    let answer = try await Fetch.send(admin.port, request)
    #expect(answer.headers["Vary"] == "Accept-Encoding" && answer.headers["Content-Encoding"] == "gzip")
    #expect(answer.body.count < plain.body.count / 2)
    let text = String(decoding: try Decoder.decode(answer.body, .gzip, limit: 1 << 20), as: UTF8.self)
    #expect(text.contains("proofgate_policy_info{version=\"v1\"} 1\n"))
    // A short response is not compressed.
    request.target = "/healthz"
    #expect(Fetch.text(try await Fetch.send(admin.port, request)) == "ok\n")
    await admin.stop()
  }

  @Test("Only GET and HEAD are accepted", arguments: ["POST", "PUT", "DELETE", "OPTIONS"])
  func methods(_ method: String) async throws {
    let admin = try await AdminFixture()
    let answer = try await Fetch.send(admin.port, Request(method: method, target: "/metrics"))
    #expect(answer.status == 405)
    #expect(answer.headers["Allow"] == "GET, HEAD")
    #expect(try await Fetch.send(admin.port, Request(method: "HEAD", target: "/metrics")).body.isEmpty)
    await admin.stop()
  }

  @Test(
    "A request for a name that a website can have gets 421, and the answer names the setting",
    arguments: ["attacker.example", "attacker.example:9180", "svc.attacker.example", "127.0.0.1.attacker.example."])
  func foreignHost(_ host: String) async throws {
    let admin = try await AdminFixture()
    let answer = try await Fetch.get(admin.port, "/metrics", host: host)
    #expect(answer.status == 421 && Fetch.text(answer).contains("`gateway.admin_hosts`"))
    await admin.stop()
  }

  @Test("A name of the policy is accepted, and an entry with a period at its beginning accepts names below it")
  func listedHosts() {
    let listed = ["gateway.example.com", ".monitoring.example.com"]
    for host in ["gateway.example.com:9180", "GATEWAY.example.com.", "a.monitoring.example.com", "10.1.2.3:9180"] {
      #expect(AdminHost.isAcceptable(host, listed: listed), "\(host)")
    }
    for host in ["example.com", "other.example.com", "monitoring.example.com", "xgateway.example.com"] {
      #expect(!AdminHost.isAcceptable(host, listed: listed), "\(host)")
    }
    #expect(AdminHost.isAcceptable(nil, listed: []))
  }

  @Test(
    "A request for an address, or for a name that is not in the public DNS, is answered",
    arguments: [
      "localhost:1", "127.0.0.1", "[::1]:9180", "gateway:9180", "proofgate.identity.svc",
      "gw.identity.svc.cluster.local:80", "host.docker.internal",
    ])
  func ownHost(_ host: String) async throws {
    let admin = try await AdminFixture()
    #expect(try await Fetch.get(admin.port, "/healthz", host: host).status == 200)
    await admin.stop()
  }

  @Test("Other paths are 404", arguments: ["/metrics/", "/debug", "/readyz2"])
  func unknownPath(_ path: String) async throws {
    let admin = try await AdminFixture()
    #expect(try await Fetch.get(admin.port, path).status == 404)
    await admin.stop()
  }
}
