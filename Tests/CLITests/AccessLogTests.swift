import ClientTestSupport
import Foundation
import HTTP
import Testing

/// The access log of the built program.
@Suite("The access log of a gateway")
struct AccessLogTests {
  /// A gateway with this `access_log`, and no server behind it.
  final class Served {
    let folder: Folder
    let child: Child
    var policy: ServedPolicy

    /// - Parameter log: The value of `access_log`, in which `FOLDER` is the folder of the test.
    init(_ log: String, decisions: String? = nil, prepare: (Folder) throws -> Void = { _ in }) throws {
      folder = try Folder()
      try prepare(folder)
      policy = try ServedPolicy()
      policy.gateway = Served.setting(log, folder)
      try folder.write("policy.yaml", policy.text)
      child = try Child(["serve", folder.path("policy.yaml"), "--log", decisions ?? folder.path("decisions")])
      _ = try child.lines(until: " serves ")
    }

    static func setting(_ log: String, _ folder: Folder) -> String {
      "  access_log: \(log.replacingOccurrences(of: "FOLDER", with: folder.url.path))"
    }

    func reload(_ log: String) throws {
      policy.gateway = Served.setting(log, folder)
      try folder.write("policy.yaml", policy.text)
      child.signal(SIGHUP)
    }

    func get(_ target: String) async throws -> Response { try await Fetch.get(policy.port, target) }

    /// Ends the gateway, which writes the last lines first.
    func stop() {
      child.signal(SIGTERM)
      #expect(child.wait() == 0)
    }

    func lines(_ name: String) throws -> [String] {
      try folder.read(name).split(separator: "\n").map(String.init)
    }
  }

  @Test("A file gets a line for each request, with the id of the request and without secrets, and is reopened")
  func file() async throws {
    let served = try Served("{ to: { file: FOLDER/access.log } }")
    let answer = try await served.get("/page?code=secret1&page=2")
    #expect(answer.status == 503)
    let refused = try await served.get("/authorize?client_id=nobody&state=secret2&x=secret3")
    #expect(refused.status == 400)
    // The line of a request follows its response.
    var waits = 0
    while waits < 60_000, try served.lines("access.log").count < 2 {
      usleep(1_000)
      waits += 1
    }
    try FileManager.default.moveItem(atPath: served.folder.path("access.log"), toPath: served.folder.path("old.log"))
    served.child.signal(SIGUSR1)
    waits = 0
    while waits < 60_000, !FileManager.default.fileExists(atPath: served.folder.path("access.log")) {
      usleep(1_000)
      waits += 1
    }
    #expect(try served.folder.mode("access.log") & 0o137 == 0)
    _ = try await served.get("/later")
    served.stop()
    let old = try served.lines("old.log")
    try #require(old.count == 2)
    #expect(old[0].contains(#""path":"/page","query":"code=***&page=2","status":503,"reason":"the upstream does not"#))
    #expect(old[0].contains("\"request\":\"\(answer.headers["X-Request-ID"] ?? "-")\""))
    #expect(old[1].contains(#""query":"client_id=nobody&state=***&x=***","status":400,"reason":"client-unknown""#))
    #expect(!old.joined().contains("secret"))
    let new = try served.lines("access.log")
    #expect(new.count == 1 && new[0].contains("/later"))
  }

  @Test("The decision log and the access log share standard output without mixing their lines")
  func standardOutput() async throws {
    let served = try Served("{ to: stdout, fields: [path, status] }", decisions: "-")
    for number in 0..<100 { _ = try await served.get("/authorize?client_id=nobody&n=\(number)") }
    served.child.signal(SIGTERM)
    let lines = served.child.readOutput().split(separator: "\n").map(String.init)
    #expect(served.child.wait() == 0)
    #expect(lines.count { $0 == #"{"v":1,"event":"access","path":"/authorize","status":400}"# } == 100)
    #expect(lines.count { $0.contains(#""event":"decision""#) && $0.hasSuffix("}") } == 100)
    #expect(lines.count == 200)
  }

  @Test("A syslog server gets each line with the priority of the policy, the host and the id of the process")
  func syslog() async throws {
    var server: DatagramServer?
    let log = "{ to: { syslog: FOLDER/s, facility: local3, severity: notice }, fields: [path, status] }"
    let served = try Served(log) { server = try DatagramServer($0.path("s")) }
    let host = try String(contentsOfFile: "/proc/sys/kernel/hostname", encoding: .utf8)
    let sender = [host.trimmingCharacters(in: .newlines), "proofgate", "\(served.child.identifier)", "access", "-"]
    for path in ["/1", "/2"] {
      _ = try await served.get(path)
      let parts = (server?.receive() ?? "").split(separator: " ", maxSplits: 7).map(String.init)
      try #require(parts.count == 8)
      // Facility 19 and severity 5.
      #expect(parts[0] == "<157>1")
      #expect(Array(parts[2...6]) == sender)
      #expect(parts[7] == #"{"v":1,"event":"access","path":"\#(path)","status":503}"#)
    }
    served.stop()
  }

  @Test("A FIFO that is not read delays no request and no signal; its lines are dropped and counted")
  func fifo() async throws {
    let served = try Served("{ to: { file: FOLDER/fifo }, format: combined }") { folder in
      let maker = try Process.run(URL(fileURLWithPath: "/usr/bin/mkfifo"), arguments: [folder.path("fifo")])
      maker.waitUntilExit()
      try #require(maker.terminationStatus == 0)
    }
    // Each line has 4 KiB, the ring 512 KiB, the FIFO 64 KiB.
    let long = String(repeating: "a", count: 4_000)
    for _ in 0..<400 { #expect(try await served.get("/\(long)").status == 503) }
    let metrics = Fetch.text(try await Fetch.get(served.policy.adminPort, "/metrics"))
    let dropped = try #require(metrics.firstMatch(of: /proofgate_access_log_lines_dropped_total (\d+)/))
    #expect((Int(dropped.1) ?? 0) > 100)
    // The new destination is used although the old one still accepts nothing.
    try served.reload("{ to: { file: FOLDER/access.log }, format: combined }")
    _ = try served.child.lines(until: " in force")
    // A ring may be full until the writer has taken its lines.
    var attempts = 0
    while attempts < 1_000, try served.lines("access.log").last?.contains("/after") != true {
      _ = try await served.get("/after")
      attempts += 1
    }
    served.stop()
    #expect(try served.lines("access.log").last?.contains("GET /after HTTP/1.1\" 503") == true)
  }

  @Test("A reload turns the log on and off, and one that cannot open it is refused")
  func reload() async throws {
    let served = try Served("off")
    _ = try await served.get("/1")
    try served.reload("{ to: { file: FOLDER/access.log }, fields: [path] }")
    _ = try served.child.lines(until: " in force")
    _ = try await served.get("/2")
    try served.reload("{ to: { syslog: FOLDER/no-socket } }")
    let refusal = try served.child.lines(until: "reload refused").joined(separator: "\n")
    let problem = "no syslog server receives the access log at \(served.folder.path("no-socket"))"
    #expect(refusal.contains("\(problem): No such file or directory; start the server, or name another"))
    _ = try await served.get("/3")
    try served.reload("{ to: { file: FOLDER/access.log }, fields: [path, method] }")
    _ = try served.child.lines(until: " in force")
    _ = try await served.get("/4")
    try served.reload("off")
    _ = try served.child.lines(until: " in force")
    _ = try await served.get("/5")
    served.stop()
    #expect(
      try served.lines("access.log") == [
        #"{"v":1,"event":"access","path":"/2"}"#, #"{"v":1,"event":"access","path":"/3"}"#,
        #"{"v":1,"event":"access","method":"GET","path":"/4"}"#,
      ])
  }

  @Test("Each failed request has a message with its reason")
  func reasons() async throws {
    let served = try Served("off")
    let answer = try await served.get("/page;jsessionid=secret?code=secret")
    let line = try #require(try served.child.lines(until: "503 for GET").last)
    let id = answer.headers["X-Request-ID"] ?? "-"
    #expect(
      line == "proofgate: warning: 503 for GET /page;jsessionid=*** from 127.0.0.1 (request \(id)): the upstream does "
        + "not accept connections, or its name has no address")
    served.stop()
  }
}
