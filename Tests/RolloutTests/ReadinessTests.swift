import Rollout
import Testing

/// The readiness of clients.
@Suite("Readiness")
struct ReadinessTests {
  private static func line(
    _ client: String, _ time: String, decision: String = "forward", rule: String? = nil, findings: [String] = []
  ) -> [UInt8] {
    let rule = rule.map { #""rule":"\#($0)","# } ?? ""
    let findings = findings.map { "\"\($0)\"" }.joined(separator: ",")
    return Array(
      (#"{"event":"decision","time":"\#(time)","endpoint":"authorization","client":"\#(client)","#
        + #""decision":"\#(decision)",\#(rule)"findings":[\#(findings)],"pkce":"none","mode":"observe"}"#).utf8)
  }

  /// A token request.
  private static func token(
    _ grant: String = "authorization_code", _ authentication: String = "none", status: Int = 200,
    time: String = "2026-11-22T10:00:01.000Z"
  ) -> [UInt8] {
    Array(
      (#"{"event":"decision","time":"\#(time)","endpoint":"token","client":"mail","decision":"forward","findings":[],"#
        + #""grant":"\#(grant)","client_authentication":"\#(authentication)","upstream_status":\#(status),"#
        + #""mode":"observe"}"#).utf8)
  }

  private static func readiness(
    _ lines: [[UInt8]], dropsCredentials: Bool = false, isEnforced: Bool = false
  ) throws -> ClientReadiness {
    var traffic = Traffic()
    for line in lines { traffic.add(line) }
    let listed = ReadinessReport.ListedClient(
      id: "mail", isEnforced: isEnforced, dropsCredentials: dropsCredentials)
    return try #require(ReadinessReport(traffic, listed: [listed]).clients.first)
  }

  private static let unknown = line(
    "mail", "2026-11-20T10:00:00.000Z", decision: "would_reject", rule: "client-unknown")
  private static let unknownAtToken = line(
    "mail", "2026-11-20T10:00:01.000Z", decision: "would_reject", rule: "client-not-known")
  private static let refused = line(
    "mail", "2026-11-21T10:00:00.000Z", decision: "would_reject", rule: "pkce-required",
    findings: ["would-reject:pkce-required", "would-reject:scope", "state-missing"])
  private static let passed = line("mail", "2026-11-22T10:00:00.000Z")

  @Test("A client with refused requests is not ready, with each rule, its times and an example")
  func notReady() throws {
    var traffic = Traffic()
    for line in [Self.unknown, Self.unknownAtToken, Self.refused, Self.passed] { traffic.add(line) }
    let report = ReadinessReport(traffic, listed: nil)
    let client = try #require(report.clients.first)
    #expect(client.state == .notReady && client.requests == 2 && client.refused == 1)
    #expect(client.rules.map(\.rule) == ["pkce-required", "scope"])
    #expect(client.rules.first?.last == "2026-11-21T10:00:00.000Z")
    #expect(client.rules.first?.example == "authorization pkce=none")
    #expect(report.text.contains("not ready: pkce-required (1), scope (1)"))
  }

  @Test("A client whose codes come from a page that is not listed is not ready, and the example names the page")
  func completionPath() throws {
    var traffic = Traffic()
    traffic.add(
      Array(
        (#"{"event":"decision","time":"2026-11-22T10:00:00.000Z","endpoint":"path","client":"mail","mode":"observe","#
          + #""decision":"would_reject","rule":"completion-path","path":"/login","#
          + #""findings":["would-reject:completion-path"]}"#).utf8))
    let client = try #require(ReadinessReport(traffic, listed: nil).clients.first)
    #expect(client.state == .notReady)
    #expect(client.rules.first?.example == "other endpoint path=/login")
  }

  @Test("A client is ready if no rule would have refused a request since the given time")
  func ready() {
    var traffic = Traffic(since: "2026-11-22")
    for line in [Self.unknown, Self.refused, Self.passed, Self.token()] { traffic.add(line) }
    let report = ReadinessReport(traffic, listed: nil)
    #expect(report.clients.map(\.state) == [.ready])
    #expect(traffic.earlierRequests == 2)
  }

  @Test("A client is ready only if the server has completed one of its sign-ins, and the latest failure is named")
  func completed() throws {
    let started = try Self.readiness([Self.passed])
    #expect(started.state == .notReady && started.completed == 0)
    #expect(started.advice.contains("no sign-in was completed, because no redemption of a code came"))
    let refused = try Self.readiness([Self.passed, Self.token(status: 401)])
    #expect(refused.advice.contains("no sign-in was completed; the server answered a token request with 401"))
    let refreshed = try Self.readiness([Self.token("refresh_token")])
    #expect(refreshed.advice == "not ready: no sign-in was seen, only refreshes")
    let ready = try Self.readiness([Self.passed, Self.token(status: 401), Self.token()])
    #expect(ready.state == .ready && ready.completed == 1)
    // A client that has no users needs no sign-in.
    #expect(try Self.readiness([Self.token("client_credentials", "basic")]).state == .ready)
  }

  @Test("A client whose secret the server no longer gets is not ready, and named if it is enforced")
  func credentials() throws {
    let lines = [Self.passed, Self.token("authorization_code", "basic")]
    #expect(try Self.readiness(lines).state == .ready)
    let dropped = try Self.readiness(lines, dropsCredentials: true)
    #expect(dropped.state == .notReady && dropped.advice.contains("set `upstream.client_secret`"))
    let enforced = try Self.readiness(lines, dropsCredentials: true, isEnforced: true)
    #expect(enforced.state == .enforced && enforced.advice.contains("set `upstream.client_secret`"))
    // The server also accepts the client without its secret.
    #expect(try Self.readiness(lines + [Self.token()], dropsCredentials: true).state == .ready)
    var traffic = Traffic()
    for line in lines { traffic.add(line) }
    #expect(ReadinessReport(traffic, listed: nil).text.contains("compare with `--policy`"))
  }

  @Test("Requests from before the client was listed are not counted, with whatever rule")
  func listing() throws {
    let split = Self.line("mail", "2026-11-20T09:00:00.000Z", decision: "would_reject", rule: "parameters-split")
    let client = try Self.readiness([split, Self.unknown, Self.passed, Self.token()])
    #expect(client.state == .ready && client.requests == 2 && client.first == "2026-11-22T10:00:00.000Z")
    // Without a policy, a request in which no client can be found does not show that the client is listed.
    var traffic = Traffic()
    for line in [
      Self.unknown,
      Self.line("mail", "2026-11-21T09:00:00.000Z", decision: "would_reject", rule: "parameters-split"),
    ] { traffic.add(line) }
    #expect(ReadinessReport(traffic, listed: nil).clients.map(\.state) == [.notListed])
  }

  @Test("A form of the server in a known sign-in is no request of the client")
  func forms() {
    var traffic = Traffic()
    for step in [#""step":"login","#, ""] {
      traffic.add(
        Array(
          (#"{"event":"decision","time":"2026-11-22T10:00:00.000Z","endpoint":"authorization","client":"mail","#
            + #""decision":"forward",\#(step)"mode":"observe","findings":[]}"#).utf8))
    }
    #expect(ReadinessReport(traffic, listed: nil).clients.map(\.requests) == [1])
  }

  @Test("An id that is not listed, a client without requests and an enforced client have their own states")
  func states() {
    var traffic = Traffic()
    traffic.add(Self.unknown)
    traffic.add(Self.unknownAtToken)
    #expect(ReadinessReport(traffic, listed: nil).clients.map(\.state) == [.notListed])
    let report = ReadinessReport(
      traffic,
      listed: [
        .init(id: "mail", isEnforced: false), .init(id: "web", isEnforced: true), .init(id: "x", isEnforced: false),
      ])
    #expect(report.clients.map(\.client) == ["mail", "x", "web"])
    #expect(report.clients.map(\.state) == [.notSeen, .notSeen, .enforced])
  }

  @Test("The table contains no control characters of a log")
  func printable() {
    var traffic = Traffic()
    traffic.add(Self.line("a\\u001b[2J\\nb", "2026-11-22T10:00:00.000Z"))
    let text = ReadinessReport(traffic, listed: nil).text
    #expect(text.contains("a?[2J?b"))
    // The table has two lines, and the reason for which the client is not ready another two.
    #expect(text.split(separator: "\n").count == 4)
  }
}
