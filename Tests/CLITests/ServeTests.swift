import ClientTestSupport
import Cryptography
import Foundation
import HTTP
import LegacyServer
import TLSTestSupport
import Testing
import Time

@Suite("proofgate serve")
struct ServeTests {
  /// A running gateway.
  private final class Served {
    let child: Child
    let folder: Folder
    var policy: ServedPolicy
    /// The lines on standard error up to the end of the start.
    let start: [String]

    init(_ policy: ServedPolicy) throws {
      folder = try Folder()
      self.policy = policy
      try folder.write("policy.yaml", policy.text)
      child = try Child(["serve", "--policy", folder.path("policy.yaml"), "--log", folder.path("log")])
      start = try child.lines(until: " serves ")
    }

    func write() throws {
      try folder.write("policy.yaml", policy.text)
    }

    /// Sends SIGTERM and returns the exit code.
    func end() -> Int32 {
      child.signal(SIGTERM)
      return child.wait()
    }
  }

  private static func metric(_ name: String, _ port: Int) async throws -> String? {
    let text = Fetch.text(try await Fetch.get(port, "/metrics"))
    return text.split(separator: "\n").first { $0.hasPrefix(name + " ") }.map { String($0.dropFirst(name.count + 1)) }
  }

  /// True if the process runs with the thread sanitizer, which has a thread of its own and reserves terabytes of
  /// memory.
  private static func isSanitized(_ process: Int32) -> Bool {
    let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmSize:") }
    let kilobytes = line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) }
    return (kilobytes ?? 0) > 1 << 30
  }

  @Test("`serve` prints its addresses, decides requests, and ends with 0 after SIGTERM with the log written")
  func life() async throws {
    let served = try Served(try ServedPolicy())
    let line = try #require(served.start.last)
    #expect(line.contains("on 127.0.0.1:\(served.policy.port), admin on 127.0.0.1:\(served.policy.adminPort)"))
    let answer = try await Fetch.get(served.policy.port, "/authorize?client_id=nobody")
    #expect(answer.status == 400)
    #expect(served.end() == 0)
    let log = try served.folder.read("log").split(separator: "\n")
    #expect(log.count == 1)
    #expect(log.first?.contains(#""decision":"reject","rule":"client-unknown""#) == true)
    #expect(served.child.readErrors().hasSuffix("proofgate: ended\n"))
  }

  @Test("A gateway whose Redis server is away serves, and reports the outage in the log, metrics and readiness")
  func storeAway() async throws {
    var policy = try ServedPolicy()
    let port = try Ports.free(1)[0]
    policy.gateway = "  store: redis://127.0.0.1:\(port)"
    let served = try Served(policy)
    if !served.start.contains(where: { $0.contains("the store at 127.0.0.1:\(port) is away") }) {
      _ = try served.child.lines(until: "the store at 127.0.0.1:\(port) is away")
    }
    let answer = try await Fetch.get(served.policy.port, "/authorize?client_id=nobody")
    #expect(answer.status == 400)
    #expect(try await ServeTests.metric("proofgate_store_available", served.policy.adminPort) == "0")
    let ready = Fetch.text(try await Fetch.get(served.policy.adminPort, "/readyz"))
    #expect(ready.contains(#""name":"redis","ok":false}"#))
    #expect(served.end() == 0)
  }

  @Test("The process has one thread for each worker and three more", arguments: [1, 2])
  func threads(_ workers: Int) throws {
    var policy = try ServedPolicy()
    policy.workers = workers
    let served = try Served(policy)
    _ = try served.child.lines(until: "cannot be reached")
    func extra() throws -> Int {
      let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(served.child.identifier)/task")
      return threads.count - workers - 3
    }
    // The thread that wrote the last line will end soon.
    for _ in 0..<6_000 {
      if try extra() <= 0 { break }
      usleep(10_000)
    }
    let extra = try extra()
    #expect(extra == 0 || extra == 1 && ServeTests.isSanitized(served.child.identifier))
    #expect(served.end() == 0)
  }

  @Test("An unreachable upstream is a warning, and the process is ready when the upstream listens")
  func upstream() async throws {
    let served = try Served(try ServedPolicy())
    let said = try served.child.lines(until: "warning: upstream")
    #expect(said.last?.contains("http://127.0.0.1:\(served.policy.upstreamPort) cannot be reached") == true)
    #expect(try await Fetch.get(served.policy.adminPort, "/readyz").status == 503)
    #expect(try await Fetch.get(served.policy.adminPort, "/healthz").status == 200)
    #expect(try await Fetch.get(served.policy.port, "/passes").status == 503)
    _ = try served.child.lines(until: "warning: the upstream does not accept connections")
    #expect(served.end() == 0)

    let legacy = try await LegacyService(LegacyAuthorizationServer(LegacyConfiguration(clients: [])))
    var policy = try ServedPolicy()
    policy.upstreamPort = legacy.port
    let other = try Served(policy)
    #expect(try await Fetch.get(policy.adminPort, "/readyz").status == 200)
    _ = try await Fetch.get(policy.port, "/passes")
    #expect(try await ServeTests.metric("proofgate_upstream_connections_opened_total", policy.adminPort) == "1")
    #expect(other.end() == 0)
    await legacy.stop()
  }

  @Test("SIGHUP adopts a new policy; a policy with errors is reported and the old one stays in force")
  func reload() async throws {
    let served = try Served(try ServedPolicy())
    let admin = served.policy.adminPort
    served.policy.name = "Another Name"
    try served.write()
    served.child.signal(SIGHUP)
    let adopted = try #require(try served.child.lines(until: "in force").last)
    #expect(try await ServeTests.metric(#"proofgate_policy_reloads_total{result="ok"}"#, admin) == "1")

    served.policy.clientType = "publik"
    try served.write()
    served.child.signal(SIGHUP)
    let said = try served.child.lines(until: "reload refused")
    #expect(said.contains { $0.contains(":17:11: error: `type` cannot be `publik`") })
    let version = try #require(adopted.split(separator: " ").dropFirst(2).first)
    #expect(said.last?.contains("policy \(version) stays in force") == true)
    #expect(try await ServeTests.metric(#"proofgate_policy_reloads_total{result="failed"}"#, admin) == "1")
    #expect(try await ServeTests.metric("proofgate_policy_info{version=\"\(version)\"}", admin) == "1")
    #expect(try await Fetch.get(served.policy.port, "/authorize?client_id=nobody").status == 400)
    #expect(served.end() == 0)
  }

  @Test("A malformed key file on SIGHUP leaves the old keys in force")
  func reloadKeys() throws {
    var policy = try ServedPolicy()
    policy.gateway = "  sealing_keys: { file: keys }"
    let folder = try Folder()
    _ = try Program.run("keys", "generate", "--file", folder.path("keys"))
    policy.gateway = "  sealing_keys: { file: \(folder.path("keys")) }"
    let served = try Served(policy)
    try folder.write("keys", "nonsense\n")
    served.child.signal(SIGHUP)
    let said = try served.child.lines(until: "reload refused")
    #expect(said.contains { $0.hasPrefix("\(folder.path("keys")):1:1: error: ") })
    #expect(served.end() == 0)
  }

  @Test("The certificates in use are printed with their expiry at the start and when a reload changes them")
  func certificates() async throws {
    let folder = try Folder()
    let install = { (name: String) in
      for (file, copy) in [("\(name).pem", "served.pem"), ("\(name).key", "served.key")] {
        try folder.write(copy, String(decoding: try TestCertificates.bytes(file), as: UTF8.self))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.path(copy))
      }
    }
    try install("gateway")
    var policy = try ServedPolicy()
    policy.tls = "{ certificate: \(folder.path("served.pem")), private_key: \(folder.path("served.key")) }"
    let served = try Served(policy)
    let place = "127.0.0.1:\(policy.port)"
    let (gateway, other) = (try TestCertificates.chain("gateway"), try TestCertificates.chain("other"))
    let line = served.start.first {
      $0.contains("certificate on \(place): CN=gateway for gw.example, localhost, until ")
    }
    #expect(line?.hasSuffix("SHA-256 \(gateway.fingerprint)") == true)
    let series = { (chain: CertificateChain, name: String) in
      "proofgate_certificate_expiry_timestamp_seconds{listener=\"\(place)\",name=\"\(name)\","
        + "fingerprint=\"\(chain.fingerprint.prefix(16))\"}"
    }
    let before = try await ServeTests.metric(series(gateway, "gw.example"), policy.adminPort)
    #expect(before == "\(gateway.validity.upperBound.seconds)")

    try install("other")
    served.child.signal(SIGHUP)
    let said = try served.child.lines(until: "in force")
    let shown = said.filter { $0.contains("certificate on ") }
    #expect(shown.count == 1)
    #expect(shown.first?.contains("\(place): CN=other for other.example, *.wild.example, until ") == true)
    #expect(said.last?.hasSuffix("with 1 client and 1 certificate (1 new) in force") == true)
    #expect(try await ServeTests.metric(series(gateway, "gw.example"), policy.adminPort) == nil)
    let after = try await ServeTests.metric(series(other, "other.example"), policy.adminPort)
    #expect(after == "\(other.validity.upperBound.seconds)")

    served.child.signal(SIGHUP)
    let again = try served.child.lines(until: "in force")
    #expect(!again.contains { $0.contains("certificate on ") })
    #expect(again.last?.hasSuffix("1 certificate (0 new) in force") == true)
    #expect(served.end() == 0)
  }

  @Test("A reload prints the decisions that it changes, as `proofgate diff` shows them")
  func decisionChanges() throws {
    let served = try Served(try ServedPolicy())
    served.policy.gateway = "enforcement: { mode: observe, unknown_clients: observe }"
    try served.write()
    served.child.signal(SIGHUP)
    let said = try served.child.lines(until: "client compared")
    #expect(
      said.contains(
        "proofgate: decision changed: client com.example.mail: authorization to com.example.mail:/cb without PKCE: "
          + "reject pkce-required (by redirect) -> would_reject pkce-required"), "\(said)")
    #expect(said.last?.contains("decisions changed, 1 client compared") == true)
    #expect(served.end() == 0)
  }

  @Test("A reload reports settings that it cannot change and adopts the rest; another upstream is refused")
  func restartOnly() throws {
    let served = try Served(try ServedPolicy())
    served.policy.workers = 2
    try served.write()
    served.child.signal(SIGHUP)
    let said = try served.child.lines(until: "in force")
    #expect(said.contains { $0.contains("warning: `gateway.workers` changed and will be used after a restart") })
    served.policy.upstreamPort += 1
    try served.write()
    served.child.signal(SIGHUP)
    let refused = try served.child.lines(until: "reload refused")
    #expect(refused.contains { $0.contains("`upstream.url` cannot change") })
    #expect(served.end() == 0)
  }

  @Test("SIGUSR1 opens the log file again")
  func rotation() async throws {
    let served = try Served(try ServedPolicy())
    _ = try await Fetch.get(served.policy.port, "/authorize?client_id=first")
    try FileManager.default.moveItem(atPath: served.folder.path("log"), toPath: served.folder.path("log.1"))
    served.child.signal(SIGUSR1)
    // The writer's thread opens it at its next run.
    for _ in 0..<6_000 {
      if FileManager.default.fileExists(atPath: served.folder.path("log")) { break }
      try await Task.sleep(for: .milliseconds(10))
    }
    _ = try await Fetch.get(served.policy.port, "/authorize?client_id=second")
    #expect(served.end() == 0)
    #expect(try served.folder.read("log").contains(#""client":"second""#))
    #expect(try served.folder.read("log.1").contains(#""client":"first""#))
  }

  @Test("A second signal ends a drain at once")
  func secondSignal() throws {
    var policy = try ServedPolicy()
    policy.gateway = "  drain_delay: 10m\n  drain_timeout: 20m"
    let served = try Served(policy)
    served.child.signal(SIGTERM)
    _ = try served.child.lines(until: "draining")
    served.child.signal(SIGTERM)
    #expect(served.child.wait() == 143)
  }

  @Test("A draining process is not ready, and still accepts requests during the delay")
  func draining() async throws {
    let legacy = try await LegacyService(LegacyAuthorizationServer(LegacyConfiguration(clients: [])))
    var policy = try ServedPolicy()
    policy.upstreamPort = legacy.port
    policy.gateway = "  drain_delay: 10m\n  drain_timeout: 20m"
    let served = try Served(policy)
    served.child.signal(SIGTERM)
    _ = try served.child.lines(until: "draining")
    let answer = try await Fetch.get(policy.adminPort, "/readyz")
    #expect(answer.status == 503)
    #expect(Fetch.text(answer).contains("the process is draining"))
    #expect(try await Fetch.get(policy.port, "/authorize?client_id=nobody").headers["Connection"] == "close")
    served.child.signal(SIGTERM)
    #expect(served.child.wait() == 143)
    await legacy.stop()
  }
}
