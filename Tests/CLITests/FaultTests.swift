import ClientTestSupport
import Demo
import Foundation
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Reactor
import Synchronization
import Testing
import Time

@Suite("Faults of the environment")
struct FaultTests {
  private static func metric(_ name: String, _ port: Int) async throws -> Int {
    let text = Fetch.text(try await Fetch.get(port, "/metrics"))
    let line = text.split(separator: "\n").first { $0.hasPrefix(name + " ") }
    return try #require(line.flatMap { Int($0.dropFirst(name.count + 1)) })
  }

  // MARK: Descriptors

  /// Opens connections that send nothing.
  private final class Silent: Activity {
    let opened: Mutex<Int>
    private let poller: Poller
    private let port: Int
    private let count: Int
    private var sockets: [Socket] = []

    init(_ poller: Poller, port: Int, count: Int) {
      opened = Mutex(0)
      self.poller = poller
      self.port = port
      self.count = count
    }

    func run() async {
      let waiter = Waiter(poller)
      defer { waiter.cancelDeadline() }
      guard let address = Address(literal: "127.0.0.1", port: port) else { return }
      for _ in 0..<count {
        guard let socket = try? await poller.connect(to: address, with: waiter, until: poller.deadline(after: 120_000))
        else { return }
        sockets.append(socket)
        opened.withLock { $0 += 1 }
      }
    }

    func close() {
      for socket in sockets { socket.close() }
      sockets = []
    }
  }

  private static func opened(_ worker: Worker) async -> Int {
    let count = Mutex(0)
    await worker.perform { worker in
      let opened = worker.resident(Silent.self)?.opened.withLock { $0 } ?? 0
      count.withLock { $0 = opened }
    }
    return count.withLock { $0 }
  }

  /// The processor time of a process in ticks, and the number of times that its threads went to sleep.
  private static func work(_ process: Int32) throws -> (ticks: Int, sleeps: Int) {
    let stat = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
    let words = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ")
    let ticks = (Int(words[12]) ?? 0) + (Int(words[13]) ?? 0)
    var sleeps = 0
    for thread in try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task") {
      let status = (try? String(contentsOfFile: "/proc/\(process)/task/\(thread)/status", encoding: .utf8)) ?? ""
      let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
      sleeps += line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0
    }
    return (ticks, sleeps)
  }

  @Test("Without descriptors accepting pauses, no loop spins, /healthz answers, and accepting continues later")
  func descriptors() async throws {
    var policy = try ServedPolicy()
    policy.gateway = "  limits: { header_timeout: 10m }"
    let folder = try Folder()
    try folder.write("policy.yaml", policy.text)
    let child = try Child(
      ["serve", "--policy", folder.path("policy.yaml"), "--log", folder.path("log")], descriptors: 160)
    _ = try child.lines(until: "cannot be reached")
    let clients = try Worker(index: 0)
    try clients.start(name: "clients")
    let (port, count) = (policy.port, 300)
    await clients.perform { worker in
      let silent = Silent(worker.poller, port: port, count: count)
      worker.keep(silent)
      worker.run(silent)
    }
    for _ in 0..<6_000 {
      if await Self.opened(clients) >= count { break }
      try await Task.sleep(for: .milliseconds(20))
    }
    let began = ContinuousClock.now
    let before = try Self.work(child.identifier)
    // Two seconds of work, or more on a busy machine.
    try await Task.sleep(for: .seconds(2))
    let after = try Self.work(child.identifier)
    let seconds = (ContinuousClock.now - began) / .seconds(1)
    // A paused listener tries again ten times a second; a loop that spins uses a whole processor.
    #expect(Double(after.ticks - before.ticks) < 25 * seconds)
    #expect(Double(after.sleeps - before.sleeps) < 200 * seconds)
    let files = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(child.identifier)/fd").count
    #expect(files < 130)
    #expect(try await Fetch.get(policy.adminPort, "/healthz").status == 200)
    #expect(try await Self.metric("proofgate_listeners_paused", policy.adminPort) == 1)
    await clients.perform { $0.resident(Silent.self)?.close() }
    let answer = try await Fetch.get(policy.port, "/authorize?client_id=nobody")
    #expect(answer.status == 400)
    #expect(try await Self.metric("proofgate_listeners_paused", policy.adminPort) == 0)
    #expect(try await Self.metric("proofgate_accept_pauses_total", policy.adminPort) >= 1)
    await clients.stop()
    child.signal(SIGTERM)
    #expect(child.wait() == 0)
  }

  // MARK: Disk

  @Test("With a full disk under its log the gateway continues and counts the lost lines")
  func fullDisk() async throws {
    let policy = try ServedPolicy()
    let folder = try Folder()
    try folder.write("policy.yaml", policy.text)
    let child = try Child(["serve", "--policy", folder.path("policy.yaml"), "--log", "/dev/full"])
    _ = try child.lines(until: " serves ")
    // More than a worker's ring and the writer can hold.
    let count = 6_000
    let request = "GET /authorize?client_id=nobody HTTP/1.1\r\nHost: 127.0.0.1:\(policy.port)\r\n"
    let pipeline = String(repeating: request + "\r\n", count: count - 1) + request + "Connection: close\r\n\r\n"
    let answers = try await ClientLoop.sendRaw(Array(pipeline.utf8), toPort: policy.port)
    let refused = String(decoding: answers, as: UTF8.self).components(separatedBy: "HTTP/1.1 400 ").count - 1
    #expect(refused == count)
    #expect(try await Self.metric("proofgate_log_write_failures_total", policy.adminPort) > 0)
    let lost = try await Self.metric("proofgate_log_lines_dropped_total", policy.adminPort)
    #expect((1..<count).contains(lost))
    child.signal(SIGTERM)
    #expect(child.wait() == 0)
  }

  // MARK: Death

  private static func serve(_ folder: Folder) throws -> Child {
    let child = try Child(
      ["serve", "--policy", folder.path("policy.yaml"), "--log", folder.path("log")],
      environment: ["LEGACY": "s3cret"])
    _ = try child.lines(until: " serves ")
    return child
  }

  @Test("A flow continues after the end of every process that carried it, if the next one has the same keys")
  func killed() async throws {
    var policy = try ServedPolicy()
    let callback = "http://127.0.0.1:\(policy.port)/.proofgate/callback"
    let legacy = try await LegacyService(
      LegacyAuthorizationServer(
        LegacyConfiguration(clients: [
          LegacyClient(id: "legacy-mail", secret: "s3cret", name: "Legacy Mail", redirectURI: callback)
        ])))
    policy.upstreamPort = legacy.port
    policy.gateway = "  sealing_keys: { file: keys }"
    let folder = try Folder()
    let generated = try Program.run("keys", "generate", "--file", folder.path("keys"))
    try #require(generated.code == 0)
    try folder.write(
      "policy.yaml",
      policy.text.replacing(
        "redirect_uris: [com.example.mail:/cb]",
        with: "redirect_uris: [com.example.mail:/cb]\n    consent: upstream\n    upstream: { client_id: legacy-mail, "
          + "client_secret: { env: LEGACY } }"))
    let gateway = WebAddress(host: "127.0.0.1", port: policy.port)
    let app = NativeApp(
      clientID: "com.example.mail", redirectURI: "com.example.mail:/cb",
      server: NativeApp.Server(
        authorizationEndpoint: gateway.at("/authorize"), tokenEndpoint: gateway.at("/token"), issuer: nil))
    let attempt = app.start()
    var browser = DemoBrowser(appRedirectURI: app.redirectURI) { try await ClientLoop.send($0, $1) }

    let first = try Self.serve(folder)
    guard case .page(let login) = try await browser.open(attempt.url) else {
      Issue.record("no page to sign in at")
      return
    }
    first.signal(SIGKILL)
    _ = first.wait()

    let second = try Self.serve(folder)
    guard case .app(let delivery) = try await DemoUser().signIn(in: &browser, from: login.address) else {
      Issue.record("the app got no answer")
      return
    }
    let code = try app.code(in: delivery.parameters, for: attempt)
    second.signal(SIGKILL)
    _ = second.wait()

    let third = try Self.serve(folder)
    let redeemed = try await ClientLoop.send(
      gateway.at("/token"), app.tokenRequest(code: code, verifier: attempt.verifier))
    #expect(redeemed.status == 200)
    let token = try #require(NativeApp.tokens(in: redeemed)?.refreshToken)
    third.signal(SIGKILL)
    _ = third.wait()

    let fourth = try Self.serve(folder)
    let refreshed = try await ClientLoop.send(gateway.at("/token"), app.refreshRequest(refreshToken: token))
    #expect(refreshed.status == 200)
    // The memory is lost, and the code is still used up: upstream.
    let replayed = try await ClientLoop.send(
      gateway.at("/token"), app.tokenRequest(code: code, verifier: attempt.verifier))
    #expect(replayed.status != 200)
    fourth.signal(SIGTERM)
    #expect(fourth.wait() == 0)
    await legacy.stop()
  }
}
