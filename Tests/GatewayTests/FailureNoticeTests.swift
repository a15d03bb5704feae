import GatewayTestSupport
import HTTP
import HTTP2TestSupport
import LegacyServer
import Policy
import Synchronization
import Testing
import Time

@testable import Gateway
@testable import Proxy

/// The messages that tell the operator why requests failed.
@Suite("Messages about failed requests")
struct FailureNoticeTests {
  /// A request that the gateway answers with an error, or whose response it cuts.
  struct Failure: Sendable, CustomTestStringConvertible {
    enum Upstream: Sendable {
      case working
      case dead
      case raw(RawUpstream.Answer)
    }

    /// The message, with `ID` in place of the id of the request.
    let line: String
    /// The bytes of the client. `HOST` becomes the host of the gateway, and `AZ` the target of an authorization request.
    let bytes: [UInt8]
    let upstream: Upstream
    let adjust: @Sendable (inout FixturePolicy) -> Void

    var testDescription: String { line }

    init(
      _ line: String, _ text: String, _ upstream: Upstream = .working,
      _ adjust: @escaping @Sendable (inout FixturePolicy) -> Void = { _ in }
    ) {
      self.init(line, bytes: Array(text.utf8), upstream, adjust)
    }

    init(
      _ line: String, bytes: [UInt8], _ upstream: Upstream,
      _ adjust: @escaping @Sendable (inout FixturePolicy) -> Void
    ) {
      self.line = line
      self.bytes = bytes
      self.upstream = upstream
      self.adjust = adjust
    }

    /// Runs `body` with a gateway in front of the upstream of this failure.
    func run(_ body: (GatewayFixture) async throws -> Void) async throws {
      let policy = try FixturePolicy.onLoopback(adjust)
      switch upstream {
      case .working: try await GatewayFixture.run(policy, body)
      case .dead: try await GatewayFixture.run(policy) { try await $0.withReplica(upstream: .dead, body) }
      case .raw(let answer):
        try await GatewayFixture.run(before: answer, policy) { gateway, _ in try await body(gateway) }
      }
    }
  }

  private static let page = "GET /page?code=secret HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n"

  private static func post(_ path: String, _ fields: String, _ body: String = "") -> String {
    "POST \(path) HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\(fields)\r\n\r\n\(body)"
  }

  /// Two requests of one address at the same time, on an HTTP/2 connection that a load balancer passes on.
  private static func simultaneous(host: String) -> [UInt8] {
    let streams = [(1, "/first"), (3, "/second")].map { stream, path in
      Frame.headers(stream, Frame.request(path: path, authority: host))
    }
    let frames = [Frame.settings()] + streams + [Frame(.goAway, payload: Frame.word(0) + Frame.word(0))]
    return Array("PROXY TCP4 192.0.2.1 127.0.0.1 4000 80\r\n".utf8) + Frame.preface + frames.flatMap(\.bytes)
  }

  private static let failures: [Failure] = [
    // The head could not be read, so method and path are unknown.
    Failure("400 from 127.0.0.1 (request ID): no Host field", "GET /page HTTP/1.1\r\n\r\n"),
    Failure(
      "405 from 127.0.0.1 (request ID): a method that a gateway does not serve",
      "TRACE / HTTP/1.1\r\nHost: HOST\r\n\r\n"),
    Failure(
      "408 from 127.0.0.1 (request ID): the client was too slow (`header_timeout`)", "GET /page HTTP/1.1\r\nHost: HO"
    ) { $0.gateway.limits.headerTimeout = 1_000 },
    Failure(
      "414 from 127.0.0.1 (request ID): a request target longer than 16 bytes (`target_length`)",
      "GET /page?a=01234567890 HTTP/1.1\r\nHost: HOST\r\n\r\n"
    ) { $0.gateway.limits.targetLength = 16 },
    Failure("417 from 127.0.0.1 (request ID): an expectation that cannot be met", page + "Expect: a-miracle\r\n\r\n"),
    Failure(
      "431 from 127.0.0.1 (request ID): a request head longer than 1024 bytes (`header_bytes`)",
      page + "X: \(String(repeating: "x", count: 2_000))\r\n\r\n"
    ) { $0.gateway.limits.headerBytes = 1_024 },
    Failure(
      "431 from 127.0.0.1 (request ID): more than 3 header fields (`header_fields`)", page + "X: 1\r\nY: 2\r\n\r\n"
    ) { $0.gateway.limits.headerFields = 3 },
    Failure(
      "505 from 127.0.0.1 (request ID): an HTTP version other than 1.0 and 1.1", "GET / HTTP/1.2\r\nHost: HOST\r\n\r\n"),
    Failure("503 from 127.0.0.1 (request ID): a limit was reached (`connections`)", page + "\r\n") {
      $0.gateway.limits.connections = 0
    },
    // The head could be read.
    Failure(
      "400 for POST /page from 127.0.0.1 (request ID): a chunk without a size",
      post("/page", "Transfer-Encoding: chunked", "z\r\n")),
    Failure(
      "408 for POST /page from 127.0.0.1 (request ID): the client was too slow (`body_timeout`)",
      post("/page", "Content-Length: 10", "abc")
    ) { $0.gateway.limits.bodyTimeout = 50 },
    Failure(
      "408 for POST /token from 127.0.0.1 (request ID): the client was too slow (`body_timeout`)",
      post("/token", "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 10", "abc")
    ) { $0.gateway.limits.bodyTimeout = 50 },
    Failure(
      "413 for POST /upload from 127.0.0.1 (request ID): the body is longer than 4 bytes (`body`)",
      post("/upload", "Content-Length: 5", "hello")
    ) { policy in
      var route = RouteSettings()
      route.prefix = "/upload"
      route.bodyLimit = 4
      policy.routes = [route]
    },
    Failure(
      "415 for POST /service/Method from 127.0.0.1 (request ID): a gRPC call, which needs HTTP/2 up to the server",
      post("/service/Method", "Content-Type: application/grpc\r\nContent-Length: 2", "hi")),
    Failure(
      "508 for GET /page from 127.0.0.1 (request ID): the request has already passed through this gateway, as its "
        + "`Via` shows", page + "Via: 1.1 HOST\r\n\r\n"),
    // The upstream fails.
    Failure(
      "502 for GET /page from 127.0.0.1 (request ID): the upstream closed the connection before its answer was complete",
      page + "\r\n", .raw(.reset)),
    Failure(
      "503 for GET /page from 127.0.0.1 (request ID): the upstream does not accept connections, or its name has no "
        + "address", page + "\r\n", .dead),
    Failure(
      "504 for GET /page from 127.0.0.1 (request ID): no complete answer of the upstream in time (`response_timeout`)",
      page + "\r\n", .raw(.silence)
    ) { $0.upstream.responseTimeout = 50 },
    Failure(
      "cut response for GET /page from 127.0.0.1 (request ID): the upstream closed the connection before its answer was "
        + "complete", page + "\r\n", .raw(.bytes("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"))),
    Failure(
      "a request to the upstream failed for GET /authorize from 127.0.0.1 (request ID): the upstream does not accept "
        + "connections, or its name has no address", "GET AZ HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n", .dead
    ),
  ]

  /// Waits until the gateway has shown the message. Returns it with the id of the request.
  private static func expect(_ line: String, from gateway: GatewayFixture) async throws -> String {
    var lines: [String] = []
    for _ in 0..<6_000 {
      lines = try await gateway.notices(0)
      if let shown = lines.first(where: { $0.replacing(/\(request [^)]+\)/, with: "(request ID)") == line }) {
        return shown
      }
      try await Task.sleep(for: .milliseconds(10))
    }
    Issue.record("no `\(line)` in \(lines)")
    return ""
  }

  @Test(
    "Each kind of error of the gateway has a message with its reason and the id of the request", arguments: failures)
  func table(_ failure: Failure) async throws {
    try await failure.run { gateway in
      let text = String(decoding: failure.bytes, as: UTF8.self)
        .replacing("HOST", with: gateway.front.authority).replacing("AZ", with: gateway.authorizationTarget("p1"))
      let answer = String(decoding: try await ClientLoop.sendRaw(Array(text.utf8), toPort: gateway.port), as: UTF8.self)
      let shown = try await Self.expect(failure.line, from: gateway)
      #expect(!shown.contains("secret"))
      if let status = Int(failure.line.prefix(3)) {
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
        let id = try #require(answer.firstMatch(of: /X-Request-ID: ([^\r]+)/)?.1)
        #expect(shown.contains("(request \(id))"), "\(answer)")
      }
    }
  }

  @Test("A request above the limit of its address has a message, with the address that a proxy names")
  func addressLimit() async throws {
    let failure = Failure(
      "429 for GET /second from 192.0.2.1 (request ID): a limit was reached (`requests_per_address`)", bytes: [],
      .raw(.silence)
    ) { policy in
      policy.gateway.listeners = [
        ListenerSettings(address: SocketAddress(host: "127.0.0.1", port: 0), proxyProtocol: true)
      ]
      policy.gateway.trustedProxies = [
        AddressRange(network: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1], prefixLength: 128)
      ]
      policy.gateway.limits.requestsPerAddress = 1
      policy.upstream.maxConnections = 1
      policy.upstream.responseTimeout = 100
    }
    try await failure.run { gateway in
      _ = try await ClientLoop.sendRaw(Self.simultaneous(host: gateway.front.authority), toPort: gateway.port)
      _ = try await Self.expect(failure.line, from: gateway)
    }
  }

  @Test("A refusal by a rule has no message, and is in the decision log")
  func refusal() async throws {
    try await GatewayFixture.run { gateway in
      let refused = try await gateway.get(gateway.authorizationTarget("nobody", "com.example.nobody:/cb"))
      #expect(refused.status == 400)
      let id = try #require(refused.headers["X-Request-ID"])
      #expect(gateway.logLines.contains { $0.contains("\"request\":\"\(id)\"") && $0.contains("client-unknown") })
      // A message of an earlier request would arrive before this one.
      _ = try await gateway.send(
        Request(method: "POST", target: "/m", headers: ["Content-Type": "application/grpc"], body: [0]))
      _ = try await Self.expect(
        "415 for POST /m from 127.0.0.1 (request ID): a gRPC call, which needs HTTP/2 up to the server", from: gateway)
      #expect(try await gateway.notices(0).allSatisfy { !$0.contains(id) })
    }
  }

  @Test("gRPC calls over HTTP/2 have one message a minute, which names the reason")
  func grpc() async throws {
    try await GatewayFixture.run { gateway in
      let call = Request(
        method: "POST", target: "/service/Method", headers: ["Content-Type": "application/grpc"], body: [0])
      for _ in 0..<3 {
        let response = try await gateway.sendHTTP2(call)
        #expect(response.headers["grpc-status"] == "12")
      }
      #expect(
        try await gateway.notices(1) == [
          "gRPC calls are refused: gRPC needs HTTP/2 up to the server, and the gateway speaks HTTP/1.1 to it"
        ])
    }
  }

  private final class Shown: Sendable {
    private let texts = Mutex<[String]>([])

    func append(_ text: String) { texts.withLock { $0.append(text) } }

    /// The texts in alphabetical order, because each has been shown by a thread of its own. Waits until there are `count`.
    func sorted(_ count: Int) async throws -> [String] {
      for _ in 0..<6_000 {
        let shown = texts.withLock { $0 }
        if shown.count >= count { return shown.sorted() }
        try await Task.sleep(for: .milliseconds(10))
      }
      return texts.withLock { $0.sorted() }
    }
  }

  @Test("Each reason is shown five times a minute, and the next message has the number of those that were not shown")
  func suppressed() async throws {
    let shown = Shown()
    let notices = FailureNotices(OperatorNotices { shown.append($0) })
    func report(_ status: Int, _ reason: String, second: Int) {
      let report = FailureReport(
        status: status, reason: reason, reference: RequestReference(), request: FailedRequest(peer: "192.0.2.1"))
      notices.report(report, id: "a") { 0 + Milliseconds(Seconds(second)) }
    }
    let line = "502 from 192.0.2.1 (request a): a reason"
    for _ in 0..<8 { report(502, "a reason", second: 100) }
    #expect(try await shown.sorted(5) == Array(repeating: line, count: 5))
    // Another reason, and the same one with another status, have their own counts.
    report(502, "b reason", second: 100)
    report(503, "a reason", second: 100)
    let others = ["502 from 192.0.2.1 (request a): b reason", "503 from 192.0.2.1 (request a): a reason"]
    #expect(try await shown.sorted(7) == Array(repeating: line, count: 5) + others)
    report(502, "a reason", second: 159)
    report(502, "a reason", second: 160)
    report(502, "a reason", second: 161)
    let counted = line + "; 4 more of these in the last minutes were not shown"
    #expect(try await shown.sorted(9) == Array(repeating: line, count: 6) + [counted] + others)
  }

  @Test("A failure and a text that a worker reports with an earlier time than another one count in the same minute")
  func earlier() async throws {
    let shown = Shown()
    let notices = FailureNotices(OperatorNotices { shown.append($0) })
    let texts = RecentTexts()
    // The second one fills the table, so that the counts of each minute are compared with the time.
    for (number, time) in [100_000, 99_999, 0, .max, 0].enumerated() {
      for reason in ["a reason"] + (0..<300).map({ "\(number).\($0)" }) {
        let report = FailureReport(
          status: 400, reason: reason, reference: RequestReference(), request: FailedRequest(peer: "192.0.2.1"))
        notices.report(report, id: "a") { MonotonicTime(milliseconds: UInt64(time)) }
        _ = texts.admit(reason) { MonotonicTime(milliseconds: UInt64(time)) }
      }
    }
    #expect(!texts.admit("a reason") { 0 })
    #expect(try await shown.sorted(256).count >= 256)
  }
}
