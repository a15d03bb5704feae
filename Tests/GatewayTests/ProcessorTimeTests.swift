import GatewayTestSupport
import HTTP
import LegacyServer
import Telemetry
import Testing
import Time

@testable import Gateway

/// Requests that an attacker builds so that reading them takes long. The clock of the fixture decides how long.
@Suite("Processor time of an address")
struct ProcessorTimeTests {
  /// A request that may be expensive.
  struct Kind: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let request: Request

    init(_ name: String, _ request: Request) {
      testDescription = name
      self.request = request
    }

    static let long = String(repeating: "x", count: 1_100)

    static let all = [
      Kind("a path", Request(method: "GET", target: "/~\(long)")),
      Kind("a short path", Request(method: "GET", target: "/~\(long.prefix(130))")),
      Kind("a query", Request(method: "GET", target: "/page?\(long)")),
      Kind("many fields", Request(method: "GET", target: "/page", headers: ["X-A": long + long, "X-B": long + long])),
      Kind("the query of an endpoint", Request(method: "GET", target: "/authorize?filter=\(long)")),
      Kind("a route in the query of an endpoint", Request(method: "GET", target: "/authorize?\(long.prefix(130))")),
      Kind("a passing form", form("/page", "application/x-www-form-urlencoded")),
      Kind("a passing multipart form", form("/page", "multipart/form-data; boundary=a")),
      Kind("a form of an authorization request", form("/authorize", "application/x-www-form-urlencoded")),
      Kind("a form of a token request", form("/token", "application/x-www-form-urlencoded")),
      Kind("a form of a consent page", form("/.proofgate/consent", "application/x-www-form-urlencoded")),
      Kind("a form at the callback", form("/.proofgate/callback", "application/x-www-form-urlencoded")),
    ]

    private static func form(_ target: String, _ type: String) -> Request {
      Request(method: "POST", target: target, headers: ["Content-Type": type], body: Array("a=\(long)".utf8))
    }

    func request(from address: String) -> Request {
      var request = request
      request.headers.append("X-Forwarded-For", address)
      return request
    }
  }

  private static let attacker = "192.0.2.1"
  /// Requests that take little work, however long they are.
  private static let ordinary = [
    Kind("short", Request(method: "GET", target: "/short")),
    Kind("path", Request(method: "GET", target: "/\(Kind.long)")),
    Kind("query", Request(method: "GET", target: "/short?filter=\(Kind.long)")),
    Kind(
      "upload",
      Request(method: "POST", target: "/short", headers: ["Content-Type": "image/png"], body: Array(Kind.long.utf8))),
  ]

  /// Sends expensive requests until one is refused, and then stops the clock. Returns the number of those before it, and
  /// the refusal.
  private static func exhaust(
    _ gateway: GatewayFixture, _ send: (Request) async throws -> Response, _ kind: Kind
  ) async throws -> (passed: Int, refusal: Response?) {
    gateway.workClock.setStep(ProcessorTime.most)
    defer { gateway.workClock.setStep(0) }
    for number in 0..<500 {
      let response = try await send(kind.request(from: attacker))
      if response.status == 429 { return (number, response) }
    }
    return (500, nil)
  }

  @Test(
    "An address gets 429 for expensive requests while it has no time left; its other requests and other addresses pass",
    arguments: Kind.all, [false, true])
  func budget(kind: Kind, isHTTP2: Bool) async throws {
    try await GatewayFixture.run { gateway in
      let send = { (request: Request) async throws in
        isHTTP2 ? try await gateway.sendHTTP2(request) : try await gateway.send(request)
      }
      let (passed, refusal) = try await Self.exhaust(gateway, send, kind)
      // Each piece of work takes at most 2.1 ms of 100 ms, which refill while the clock moves.
      #expect((20..<100).contains(passed), "\(passed)")
      let response = try #require(refusal)
      #expect(response.headers["Retry-After"] != nil)
      #expect(try await send(kind.request(from: Self.attacker)).status == 429)
      #expect(gateway.metrics.snapshot().limits[.processorTimePerAddress] == 2)

      for ordinary in Self.ordinary {
        let before = gateway.upstream.recorder.count
        // The server does not know the path.
        let response = try await send(ordinary.request(from: Self.attacker))
        #expect(response.status == 404, "\(ordinary.testDescription)")
        #expect(gateway.upstream.recorder.count == before + 1)
      }
      #expect(try await send(kind.request(from: "192.0.2.2")).status != 429)
      gateway.workClock.advance(by: 1_000)
      #expect(try await send(kind.request(from: Self.attacker)).status != 429)
    }
  }

  @Test("The work in front of a wait for the server is charged")
  func forwarded() async throws {
    try await GatewayFixture.run { gateway in
      let target = gateway.authorizationTarget("p1") { $0.set("filter", Kind.long) }
      let kind = Kind("forwarded", Request(method: "GET", target: target))
      let (passed, refusal) = try await Self.exhaust(gateway, { try await gateway.send($0) }, kind)
      #expect(refusal != nil)
      #expect(gateway.upstream.recorder.count == passed)
    }
  }

  @Test("A form that may be expensive gets 429 before its body has arrived", arguments: ["/page", "/token"])
  func unread(path: String) async throws {
    try await GatewayFixture.run { gateway in
      let kind = try #require(Kind.all.first)
      #expect(try await Self.exhaust(gateway, { try await gateway.send($0) }, kind).refusal != nil)
      for framing in ["Content-Length: 2000", "Transfer-Encoding: chunked"] {
        let head =
          "POST \(path) HTTP/1.1\r\nHost: \(gateway.front.authority)\r\nX-Forwarded-Proto: https\r\n"
          + "X-Forwarded-For: \(Self.attacker)\r\nContent-Type: application/x-www-form-urlencoded\r\n\(framing)\r\n\r\n"
        let answer = try await ClientLoop.sendRaw(Array(head.utf8), toPort: gateway.port)
        #expect(String(decoding: answer, as: UTF8.self).hasPrefix("HTTP/1.1 429 "))
      }
    }
  }

  @Test("Processes of this machine have no limit")
  func loopback() async throws {
    try await GatewayFixture.run(try FixturePolicy.onLoopback()) { gateway in
      let kind = try #require(Kind.all.first)
      gateway.workClock.setStep(ProcessorTime.most)
      for _ in 0..<100 {
        let response = try await gateway.send(kind.request)
        #expect(response.status != 429)
      }
    }
  }

  // MARK: Parts

  private static func peer(_ address: String) -> Peer { Peer(address: address, isSecure: true, isLoopback: false) }

  /// Works until the address has no time left, and stops the clock. Returns the number of pieces of work, at most 1,000.
  private static func exhaust(_ time: ProcessorTime, _ clock: WorkClock, _ address: String, _ step: Nanoseconds) -> Int
  {
    clock.setStep(step)
    defer { clock.setStep(0) }
    for number in 0..<1_000 {
      guard var work = time.begin(for: peer(address)) else { return number }
      work.charge()
    }
    return 1_000
  }

  @Test("Work within 1,000,000 instructions is free, and no piece of work is charged for more than 8,000,000")
  func charges() {
    let clock = WorkClock()
    let time = ProcessorTime(clock: { clock.read() })
    #expect(Self.exhaust(time, clock, "192.0.2.1", ProcessorTime.free) == 1_000)
    // A thread that does not run for 100 ms during the work: what the pause refills is more than the charge.
    #expect(Self.exhaust(time, clock, "192.0.2.1", 100_000_000) == 1_000)
  }

  @Test("What is charged during the work is not charged again at its end")
  func twice() {
    let clock = WorkClock()
    let time = ProcessorTime(clock: { clock.read() })
    for _ in 0..<40 {
      var work = time.begin(for: Self.peer("192.0.2.1"))
      clock.advance(by: 3)
      work?.charge()
      work?.charge()
      work?.charge()
    }
    #expect(time.permits(Self.peer("192.0.2.1")))
  }

  @Test("The decoding of chunks is charged to the address, and as much of it is free as of other work")
  func decoding() {
    let clock = WorkClock()
    let time = ProcessorTime(clock: { clock.read() })
    for _ in 0..<1_000 { time.charge(ProcessorTime.free, to: Self.peer("192.0.2.1")) }
    #expect(time.permits(Self.peer("192.0.2.1")))
    for _ in 0..<100 { time.charge(ProcessorTime.most, to: Self.peer("192.0.2.1")) }
    #expect(!time.permits(Self.peer("192.0.2.1")))
    #expect(time.permits(Self.peer("192.0.2.2")))
    for _ in 0..<100 { time.charge(ProcessorTime.most, to: Peer()) }
    #expect(time.permits(Peer()))
  }

  @Test("The addresses of an IPv6 customer share the time")
  func prefix() {
    let clock = WorkClock()
    let time = ProcessorTime(clock: { clock.read() })
    #expect(Self.exhaust(time, clock, "2001:db8:0:1::1", ProcessorTime.most) < 100)
    #expect(!time.permits(Self.peer("2001:db8:0:1:ffff::2")))
    #expect(time.permits(Self.peer("2001:db8:0:2::1")))
  }
}
