import Reactor
import Synchronization
import Testing
import Time

@testable import Proxy

/// The failures that take an address out of service, and its return.
extension SeveralAddressesTests {
  /// Returns the number of failures that the proxy has counted for an address.
  private static func failureCount(_ bench: Bench, _ name: String) async -> UInt64? {
    let found = Mutex<UInt64?>(nil)
    await bench.server.update { proxy in
      let address = proxy.pool.targets.first { $0.address.name == name }?.address
      found.withLock { $0 = address?.counts.failures }
    }
    return found.withLock { $0 }
  }

  /// The failures of a server that accepts connections.
  enum ServerFailure: CaseIterable {
    case status
    /// The connection ends before the head of a response.
    case end
    case silence

    var script: ScriptedUpstream.Script {
      switch self {
      case .status: ScriptedUpstream.answering("HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy")
      case .end: ScriptedUpstream.closing(after: "")
      case .silence:
        { upstream, peer in
          _ = try await upstream.read(peer)
          _ = try await peer.waitForEnd()
        }
      }
    }

    /// The status that the client gets.
    var answer: Int {
      switch self {
      case .status: 503
      case .end: 502
      case .silence: 504
      }
    }
  }

  @Test(
    "Failures in succession take an address out of service, and no request goes to it",
    arguments: ServerFailure.allCases, ["/", "/intercept/collect"])
  func failures(_ failure: ServerFailure, _ target: String) async throws {
    // Each silence takes the whole time.
    let limit = failure == .silence ? 2 : 3
    let configure: @Sendable (inout ProxyConfiguration) -> Void = {
      $0.failureLimit = limit
      if failure == .silence { $0.responseTimeout = 1_000 }
    }
    try await Self.withTwo(.leastOutstanding, two: failure.script, configure: configure) { _, bench, two in
      var failed: [Int] = []
      for _ in 0..<12 {
        let response = try await bench.get(target)
        if response.text != "one" { failed.append(response.status) }
      }
      #expect(failed == Array(repeating: failure.answer, count: limit))
      #expect(two.requests.count == limit)
      #expect(await Self.states(bench)[two.address.description] == true)
    }
  }

  /// Answers the first request of each connection, and does `second` at the second one.
  private static func once(_ second: @escaping ScriptedUpstream.Script) -> ScriptedUpstream.Script {
    { upstream, peer in
      _ = try await upstream.read(peer)
      try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\ntwo")
      _ = try await upstream.read(peer)
      upstream.notes.append("used again")
      try await second(upstream, peer)
    }
  }

  @Test(
    "The end of a connection that was used before is no failure of the address, whose server may close idle connections",
    arguments: [("GET", "/"), ("POST", "/"), ("GET", "/intercept/collect"), ("GET", "/intercept/post")])
  func reusedEnd(_ method: String, _ target: String) async throws {
    let configure: @Sendable (inout ProxyConfiguration) -> Void = { $0.failureLimit = 1 }
    try await Self.withTwo(.leastOutstanding, two: Self.once { _, _ in }, configure: configure) { _, bench, two in
      for _ in 0..<12 {
        _ = try await bench.exchange(
          "\(method) \(target) HTTP/1.1\r\nHost: gateway.test\r\nContent-Length: 0\r\n\r\n")
      }
      #expect(two.notes.contains("used again"))
      #expect(await Self.states(bench)[two.address.description] == false)
      #expect(await Self.failureCount(bench, two.address.description) == 0)
    }
  }

  @Test("Silence is a failure of the address on a connection that was used before, too")
  func reusedSilence() async throws {
    let configure: @Sendable (inout ProxyConfiguration) -> Void = {
      $0.failureLimit = 1
      $0.responseTimeout = 1_000
    }
    let silent = Self.once { _, peer in _ = try await peer.waitForEnd() }
    try await Self.withTwo(.leastOutstanding, two: silent, configure: configure) { _, bench, two in
      for _ in 0..<8 { _ = try await bench.get("/") }
      #expect(two.notes == ["used again"])
      #expect(await Self.states(bench)[two.address.description] == true)
      #expect(await Self.failureCount(bench, two.address.description) == 1)
    }
  }

  @Test(
    "A connection that the server closes, or a request that it refuses, before it has the whole body is no failure",
    arguments: ["", "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"])
  func partOfRequest(_ answer: String) async throws {
    let script: ScriptedUpstream.Script = { _, peer in
      _ = try await peer.receive()
      if !answer.isEmpty { try await peer.send(answer) }
    }
    let configure: @Sendable (inout ProxyConfiguration) -> Void = { $0.failureLimit = 1 }
    try await Self.withTwo(.leastOutstanding, two: script, configure: configure) { _, bench, two in
      for _ in 0..<4 {
        let client = try await bench.connect()
        try await client.send("POST / HTTP/1.1\r\nHost: gateway.test\r\nContent-Length: 2000000\r\n\r\npart")
        _ = try await client.receive()
      }
      #expect(await Self.states(bench)[two.address.description] == false)
    }
  }

  @Test("A response that is no failure ends a series, and the last address stays in service")
  func noFailures() async throws {
    let alternating: ScriptedUpstream.Script = { upstream, peer in
      while true {
        let request = try await upstream.read(peer)
        let status = request.target == "/ok" ? "200 OK" : "502 Bad"
        try await peer.send("HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\r\n")
      }
    }
    try await Self.setup(
      ["127.0.0.1", "127.0.0.9"], .first, upstream: alternating, configure: { $0.failureLimit = 2 }
    ).run { _, bench in
      for target in ["/bad", "/ok", "/bad", "/ok", "/bad"] { _ = try await bench.get(target) }
      #expect(await Self.states(bench).values.allSatisfy { !$0 })
      // The other address refuses connections, so this one stays although it fails.
      await bench.server.update { proxy in
        for target in proxy.pool.targets.dropFirst() { target.address.takeOut(now: proxy.poller.now) }
      }
      for _ in 0..<4 { #expect(try await bench.get("/bad").status == 502) }
      #expect(await Self.states(bench)[bench.upstream.address.description] == false)
    }
  }

  @Test("After its outage an address is tested with a connection, and returns to service")
  func recovery() async throws {
    try await Self.withTwo(.leastOutstanding) { _, bench, two in
      let name = two.address.description
      await bench.server.update { proxy in
        proxy.pool.refreshTargets()
        // An outage that began when the clock began is over.
        for target in proxy.pool.targets where target.address.name == name { target.address.takeOut(now: 1) }
      }
      #expect(await Self.states(bench)[name] == true)
      #expect(try await bench.get("/").text == "one")
      await bench.eventually("it is in service") { await Self.states(bench)[name] == false }
      #expect(two.connections == 1 && two.requests.isEmpty)
      var texts: Set<String> = []
      for _ in 0..<4 { texts.insert(try await bench.get("/").text) }
      #expect(texts == ["one", "two"])
      // The connection of the test was used.
      #expect(two.connections == 1)
    }
  }
}
