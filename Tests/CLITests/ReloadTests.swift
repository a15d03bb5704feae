import ClientTestSupport
import Foundation
import HTTP
import Testing

@Suite("Reloads by file and by the admin listener")
struct ReloadTests {
  /// A gateway that watches its policy below `path` of the folder.
  private struct Watched {
    let child: Child
    let policy: ServedPolicy

    init(_ folder: Folder, _ path: String, _ policy: ServedPolicy) throws {
      self.policy = policy
      child = try Child(["serve", folder.path(path), "--watch", "--log", folder.path("log")])
      _ = try child.lines(until: " serves ")
    }

    func end() -> Int32 {
      child.signal(SIGTERM)
      return child.wait()
    }
  }

  /// The answer to `POST /reload`.
  private struct Answer: Decodable {
    let result: String
    let reason: String
    let policy: String
    let clients: Int
    let changes: [String]
    let settings: [String]
    let errors: [String]
  }

  private static func post(
    _ port: Int, _ headers: [(String, String)] = [], host: String? = nil
  ) async throws -> Response {
    var request = Request(method: "POST", target: "/reload")
    request.headers.append("Host", host ?? "127.0.0.1:\(port)")
    for (name, value) in headers { request.headers.append(name, value) }
    return try await Fetch.send(port, request)
  }

  @Test("With --watch, a changed policy is adopted; a broken one is reported once and the old one stays in force")
  func watch() async throws {
    let folder = try Folder()
    var policy = try ServedPolicy()
    try folder.write("policy.yaml", policy.text)
    let watched = try Watched(folder, "policy.yaml", policy)
    policy.name = "Another Name"
    try folder.write("next", policy.text)
    try FileManager.default.removeItem(atPath: folder.path("policy.yaml"))
    try FileManager.default.moveItem(atPath: folder.path("next"), toPath: folder.path("policy.yaml"))
    _ = try watched.child.lines(until: "in force")

    policy.clientType = "publik"
    try folder.write("policy.yaml", policy.text)
    let said = try watched.child.lines(until: "reload refused")
    #expect(said.count { $0.contains("`type` cannot be `publik`") } == 1)
    // A file that is not part of the policy changes nothing.
    try folder.write("notes.txt", "notes\n")
    try await Task.sleep(for: .milliseconds(600))
    policy.clientType = "public"
    try folder.write("policy.yaml", policy.text)
    let repaired = try watched.child.lines(until: "in force")
    #expect(!repaired.contains { $0.contains("error") }, "\(repaired)")
    #expect(watched.end() == 0)
  }

  @Test("With --watch, the replacement of the link `..data` of a mounted Kubernetes volume is one reload")
  func kubernetes() async throws {
    let folder = try Folder()
    let files = FileManager.default
    let install = { (version: String, policy: ServedPolicy) in
      try files.createDirectory(atPath: folder.path("..\(version)"), withIntermediateDirectories: true)
      try folder.write("..\(version)/policy.yaml", policy.text)
      try files.createSymbolicLink(atPath: folder.path("..data_tmp"), withDestinationPath: "..\(version)")
      #expect(unsafe rename(folder.path("..data_tmp"), folder.path("..data")) == 0)
    }
    var policy = try ServedPolicy()
    try install("2026_1", policy)
    try files.createSymbolicLink(atPath: folder.path("policy.yaml"), withDestinationPath: "..data/policy.yaml")
    let watched = try Watched(folder, "policy.yaml", policy)
    for version in ["2026_2", "2026_3"] {
      policy.name = "Name \(version)"
      try install(version, policy)
      #expect(try watched.child.lines(until: "in force").count { $0.contains("in force") } == 1)
    }
    let metrics = Fetch.text(try await Fetch.get(policy.adminPort, "/metrics"))
    #expect(metrics.contains("proofgate_policy_reloads_total{result=\"ok\"} 2\n"))
    #expect(watched.end() == 0)
  }

  @Test("With --watch, a changed secret or key file is read again, and a secret that was missing ends the refusals")
  func secrets() async throws {
    let folder = try Folder()
    var policy = try ServedPolicy()
    policy.gateway = "  sealing_keys: { file: secrets/keys }"
    let text = policy.text.replacing("type: public", with: "type: confidential\n    secret: { file: secrets/app }")
      .replacing("application: native", with: "application: web")
      .replacing("com.example.mail:/cb", with: "https://app.example.com/cb")
    try FileManager.default.createDirectory(atPath: folder.path("secrets"), withIntermediateDirectories: true)
    _ = try Program.run("keys", "generate", "--file", folder.path("secrets/keys"))
    let secret = "0123456789abcdef0123456789abcdef0123456789a"
    try folder.write("secrets/app", secret)
    try folder.write("policy.yaml", text)
    let watched = try Watched(folder, "policy.yaml", policy)
    _ = try Program.run("keys", "rotate", "--file", folder.path("secrets/keys"))
    _ = try watched.child.lines(until: "in force")
    try FileManager.default.removeItem(atPath: folder.path("secrets/app"))
    _ = try watched.child.lines(until: "reload refused")
    try folder.write("secrets/app", secret)
    _ = try watched.child.lines(until: "in force")
    #expect(watched.end() == 0)
  }

  @Test("POST /reload answers what a reload changed, that nothing changed, its errors, or that a restart is needed")
  func admin() async throws {
    let folder = try Folder()
    var policy = try ServedPolicy()
    try folder.write("policy.yaml", policy.text)
    let child = try Child(["serve", folder.path("policy.yaml"), "--log", folder.path("log")])
    _ = try child.lines(until: " serves ")
    let port = policy.adminPort
    func reload(_ status: Int) async throws -> Answer {
      let response = try await ReloadTests.post(port)
      #expect(response.status == status)
      return try JSONDecoder().decode(Answer.self, from: Data(response.body))
    }
    let same = try await reload(200)
    #expect(same.result == "unchanged" && same.reason == "admin" && same.clients == 1 && same.changes.isEmpty)

    policy.gateway = "enforcement: { mode: observe, unknown_clients: observe }"
    try folder.write("policy.yaml", policy.text)
    let adopted = try await reload(200)
    #expect(adopted.result == "adopted" && adopted.policy != same.policy)
    #expect(
      adopted.settings == [
        "setting changed: enforcement.unknown_clients: reject -> observe",
        "setting changed: enforcement.mode: enforce -> observe",
        "setting changed: clients[com.example.mail].mode: enforce -> observe",
      ])
    #expect(adopted.changes.contains { $0.contains("reject pkce-required (by redirect) -> would_reject") })

    var wrong = policy
    wrong.clientType = "publik"
    try folder.write("policy.yaml", wrong.text)
    let refused = try await reload(422)
    #expect(refused.result == "errors" && refused.policy == adopted.policy)
    let status = Fetch.text(try await Fetch.get(port, "/status.json"))
    #expect(status.contains(#""reason":"admin","result":"errors""#) && status.contains("publik"))
    #expect(status.contains("OpenSSL") && status.contains("\"version\":\"\(adopted.policy)\""))
    #expect(refused.errors.contains { $0.contains("`type` cannot be `publik`") })

    wrong = policy
    wrong.upstreamPort += 1
    try folder.write("policy.yaml", wrong.text)
    let conflict = try await reload(409)
    #expect(conflict.errors.contains { $0.contains("`upstream.url` cannot change") })
    child.signal(SIGTERM)
    #expect(child.wait() == 0)
  }

  @Test("POST /reload refuses requests that a page of another site can make a browser send")
  func crossSite() async throws {
    let folder = try Folder()
    let policy = try ServedPolicy()
    try folder.write("policy.yaml", policy.text)
    let child = try Child(["serve", folder.path("policy.yaml"), "--log", folder.path("log")])
    _ = try child.lines(until: " serves ")
    let port = policy.adminPort
    for headers in [
      [("Origin", "https://evil.example")], [("Origin", "null")], [("Sec-Fetch-Site", "cross-site")],
      [("Sec-Fetch-Site", "same-site")], [("Origin", "http://127.0.0.1:1")],
      [("Origin", "http://127.0.0.1:\(port)"), ("Sec-Fetch-Site", "cross-site")],
    ] {
      #expect(try await ReloadTests.post(port, headers).status == 403, "\(headers)")
    }
    #expect(try await ReloadTests.post(port, host: "evil.example").status == 421)
    #expect(try await Fetch.get(port, "/reload").status == 405)
    let metrics = Fetch.text(try await Fetch.get(port, "/metrics"))
    #expect(metrics.contains("proofgate_policy_reloads_total{result=\"ok\"} 0\n"))
    let own = [("Origin", "http://127.0.0.1:\(port)"), ("Sec-Fetch-Site", "same-origin")]
    #expect(try await ReloadTests.post(port, own).status == 200)
    child.signal(SIGTERM)
    #expect(child.wait() == 0)
  }
}
