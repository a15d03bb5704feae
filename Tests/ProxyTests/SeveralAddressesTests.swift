import Reactor
import Synchronization
import Testing
import Time

@testable import Proxy

/// An upstream with several addresses. All are loopback addresses with the same port.
@Suite("Several upstream addresses")
struct SeveralAddressesTests {
  /// A listener whose queue of connections is full: the kernel drops the packets of further clients, as if a server did
  /// not answer.
  private final class SilentListener {
    let address: Address
    private var fillers: [Socket] = []
    private let listener: ListeningSocket

    init(on host: String, port: Int, _ poller: Poller) async throws {
      let any = try #require(Address(literal: host, port: port))
      listener = try #require(try ListeningSocket.bind(any, count: 1, id: 0, backlog: 0).first)
      address = listener.address
      let waiter = Waiter(poller)
      defer { waiter.cancelDeadline() }
      while fillers.count < 8 {
        let socket = try poller.beginConnect(to: address)
        fillers.append(socket)
        let wake = await waiter.wait(socket, .writable, until: poller.deadline(after: 200))
        if wake == .timedOut { return }
      }
      Issue.record("the queue does not fill up")
    }

    func close() {
      for socket in fillers { socket.close() }
      listener.close()
    }
  }

  /// Answers each request with the address of the server.
  private static func naming(_ name: String) -> ScriptedUpstream.Script {
    { upstream, peer in
      while true {
        _ = try await upstream.read(peer)
        try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(name.utf8.count)\r\n\r\n\(name)")
      }
    }
  }

  private static func at(_ hosts: [String]) -> @Sendable (Address) -> [ServerLocation] {
    { address in hosts.map { .host($0, port: address.port) } }
  }

  static func setup(
    _ hosts: [String], _ affinity: UpstreamAffinity = .leastOutstanding, upstream: @escaping ScriptedUpstream.Script,
    configure: @escaping @Sendable (inout ProxyConfiguration) -> Void = { _ in }
  ) -> Bench.Setup {
    Bench.Setup(
      upstream: upstream,
      configure: {
        $0.affinity = affinity
        configure(&$0)
      }, servers: at(hosts))
  }

  static func states(_ bench: Bench) async -> [String: Bool] {
    let found = Mutex<[String: Bool]>([:])
    await bench.server.update { proxy in
      for target in proxy.pool.targets { found.withLock { $0[target.address.name] = target.address.isOut } }
    }
    return found.withLock { $0 }
  }

  @Test("A refused address costs no request, and is then out of service", arguments: ["127.0.0.9", "::1"])
  func refused(_ dead: String) async throws {
    try await Self.setup([dead, "127.0.0.1"], .first, upstream: Self.naming("one")).run { _, bench in
      for _ in 0..<5 {
        let response = try await bench.get("/")
        #expect(response.text == "one")
      }
      let states = await Self.states(bench)
      #expect(states.values.sorted { !$0 && $1 } == [false, true])
      #expect(states[bench.upstream.address.description] == false)
    }
  }

  @Test("While one address is silent, the next is tried, and later requests do not wait for it")
  func silent() async throws {
    try await Self.setup(["127.0.0.2", "127.0.0.1"], .first, upstream: Self.naming("one")).run { worker, bench in
      let silent = try await SilentListener(on: "127.0.0.2", port: bench.upstream.address.port, worker.poller)
      defer { silent.close() }
      for _ in 0..<3 {
        #expect(try await bench.get("/").text == "one")
      }
      #expect(await Self.states(bench)[silent.address.description] == true)
      // All connections are made to the other address, without an attempt at the silent one.
      await bench.server.update { $0.pool.closeIdle() }
      #expect(try await bench.get("/").text == "one")
      #expect(await bench.counters().opened == 2)
    }
  }

  @Test("A Unix socket that serves shows that an address that was tried before is silent")
  func silentBesideUnixSocket() async throws {
    let path = "@proofgate-\(UInt64.random(in: 0...UInt64.max))"
    var setup = Self.setup(["127.0.0.2"], .first, upstream: Self.naming("one"))
    setup.servers = { [.host("127.0.0.2", port: $0.port), .unixSocket(path: path)] }
    try await setup.run { worker, bench in
      let silent = try await SilentListener(on: "127.0.0.2", port: bench.upstream.address.port, worker.poller)
      defer { silent.close() }
      let server = try ScriptedUpstream(on: worker, unixSocket: path, Self.naming("unix"))
      for _ in 0..<3 { #expect(try await bench.get("/").text == "unix") }
      #expect(await Self.states(bench)[silent.address.description] == true)
      await bench.eventually("the server has no script") {
        server.closeAll()
        return server.running == 0
      }
    }
  }

  @Test("If every address is silent, the request ends at the time limit")
  func allSilent() async throws {
    try await Self.setup(
      ["127.0.0.2", "127.0.0.3"], upstream: Self.naming("one"), configure: { $0.connectTimeout = 1_500 }
    ).run { worker, bench in
      let port = bench.upstream.address.port
      let silent = [
        try await SilentListener(on: "127.0.0.2", port: port, worker.poller),
        try await SilentListener(on: "127.0.0.3", port: port, worker.poller),
      ]
      defer { for listener in silent { listener.close() } }
      #expect(try await bench.get("/").status == 504)
      #expect(await Self.states(bench).values.allSatisfy { $0 })
    }
  }

  /// Runs `body` with two servers, at 127.0.0.1 (`one`, that of the bench) and at 127.0.0.2 (`two`).
  static func withTwo(
    _ affinity: UpstreamAffinity, two script: ScriptedUpstream.Script? = nil,
    configure: @escaping @Sendable (inout ProxyConfiguration) -> Void = { _ in },
    _ body: @escaping @Sendable (isolated Worker, Bench, ScriptedUpstream) async throws -> Void
  ) async throws {
    try await setup(
      ["127.0.0.1", "127.0.0.2"], affinity, upstream: session("one"), configure: configure
    ).run { worker, bench in
      let two = try ScriptedUpstream(
        on: worker, host: "127.0.0.2", port: bench.upstream.address.port, script ?? session("two"))
      do {
        try await body(worker, bench, two)
      } catch {
        Issue.record(error)
      }
      await bench.eventually("the scripts of the second server have ended") {
        two.closeAll()
        return two.running == 0
      }
    }
  }

  private static let trusting: @Sendable (inout ProxyConfiguration) -> Void = { $0.trusts = { _ in true } }

  /// Answers each request with the name of the server, and sets a session cookie if the target is `/login`.
  static func session(_ name: String) -> ScriptedUpstream.Script {
    { upstream, peer in
      while true {
        let request = try await upstream.read(peer)
        while request.target == "/held", !upstream.notes.contains("released") { try await upstream.pause(peer) }
        let cookie = request.target == "/login" ? "Set-Cookie: JSESSIONID=\(name); Path=/app; HttpOnly\r\n" : ""
        try await peer.send("HTTP/1.1 200 OK\r\n\(cookie)Content-Length: \(name.utf8.count)\r\n\r\n\(name)")
      }
    }
  }

  @Test("A request goes to the address with the fewest requests in progress")
  func leastOutstanding() async throws {
    try await Self.withTwo(.leastOutstanding) { _, bench, two in
      var clients: [Peer] = []
      for count in 1...6 {
        let client = try await bench.connect()
        try await client.send("GET /held HTTP/1.1\r\nHost: gateway.test\r\n\r\n")
        clients.append(client)
        await bench.eventually("\(count) are upstream") { bench.upstream.requests.count + two.requests.count == count }
      }
      #expect(bench.upstream.requests.count == 3)
      bench.upstream.notes = ["released"]
      two.notes = ["released"]
      var texts: [String] = []
      for client in clients { texts.append(try await client.readResponse().text) }
      #expect(texts.sorted() == ["one", "one", "one", "two", "two", "two"])
      // Without load, the addresses take turns.
      var later: Set<String> = []
      for _ in 0..<4 { later.insert(try await bench.get("/").text) }
      #expect(later == ["one", "two"])
    }
  }

  @Test("With `clientAddress`, the requests of each client go to one address, and both addresses are used")
  func clientAddress() async throws {
    try await Self.withTwo(.clientAddress, configure: Self.trusting) { _, bench, _ in
      var servers: [Int: Set<String>] = [:]
      for _ in 0..<2 {
        for client in 1...24 {
          let text = try await bench.get("/", "X-Forwarded-For: 192.0.2.\(client)").text
          servers[client, default: []].insert(text)
        }
      }
      #expect(servers.values.allSatisfy { $0.count == 1 })
      #expect(Set(servers.values.joined()) == ["one", "two"])
    }
  }

  @Test("Requests with the server's cookie go to the address that set it", arguments: ["/login", "/intercept/collect"])
  func cookie(_ first: String) async throws {
    try await Self.withTwo(.cookie("JSESSIONID")) { _, bench, two in
      for _ in 0..<3 {
        let login = try await bench.get("/login")
        let cookies = login.all("Set-Cookie")
        #expect(cookies.count == 2)
        #expect(cookies.first == "JSESSIONID=\(login.text); Path=/app; HttpOnly")
        let added = try #require(cookies.last)
        #expect(added.hasPrefix("JSESSIONID-address=") && added.hasSuffix("; Path=/app; HttpOnly"))
        let pair = try #require(added.split(separator: ";").first)
        for target in ["/", first, "/", first] {
          let before = (bench.upstream.requests.count, two.requests.count)
          _ = try await bench.get(target, "Cookie: a=b; JSESSIONID=\(login.text); \(pair)")
          #expect(bench.upstream.requests.count == before.0 + (login.text == "one" ? 1 : 0))
          #expect(two.requests.count == before.1 + (login.text == "two" ? 1 : 0))
        }
      }
      // Without a valid id, the addresses take turns.
      var texts: Set<String> = []
      for value in ["", "zzzz", "00000", "+001"] {
        texts.insert(try await bench.get("/", "Cookie: JSESSIONID-address=\(value)").text)
      }
      #expect(texts == ["one", "two"])
      let plain = try await bench.get("/")
      #expect(plain["Set-Cookie"] == nil)
    }
  }

  /// The answer to each look-up of the name of the server.
  private final class Answer: Sendable {
    let hosts: Mutex<[String]>

    init(_ hosts: [String]) {
      self.hosts = Mutex(hosts)
    }

    /// A name with this answer, which is asked for at each request.
    var servers: @Sendable (Address) -> [ServerLocation] {
      { address in
        [
          .name(
            Resolver(host: "legacy.test", port: address.port, freshness: 0) { _, port in
              .success(self.hosts.withLock { $0 }.compactMap { Address(literal: $0, port: port) })
            })
        ]
      }
    }
  }

  @Test("Requests use all addresses of one name, and an address that joins its answer")
  func severalAnswers() async throws {
    let answer = Answer(["127.0.0.1"])
    let setup = Bench.Setup(
      upstream: Self.session("one"), configure: { $0.affinity = .leastOutstanding }, servers: answer.servers)
    try await setup.run { worker, bench in
      let two = try ScriptedUpstream(
        on: worker, host: "127.0.0.2", port: bench.upstream.address.port, Self.session("two"))
      #expect(try await bench.get("/").text == "one")
      answer.hosts.withLock { $0 = ["127.0.0.2", "127.0.0.1"] }
      var last = "one"
      await bench.eventually("the second server is used") {
        last = (try? await bench.get("/").text) ?? "one"
        return last != "one"
      }
      var later: Set<String> = []
      for _ in 0..<4 { later.insert(try await bench.get("/").text) }
      #expect(later == ["one", "two"])
      await bench.eventually("the scripts of the second server have ended") {
        two.closeAll()
        return two.running == 0
      }
    }
  }

  @Test("A changed answer of a name moves the requests of an open connection, and idle connections to it are closed")
  func changedAnswer() async throws {
    // No server listens at 127.0.0.9.
    let answer = Answer(["127.0.0.9", "127.0.0.1"])
    let setup = Bench.Setup(upstream: Self.session("one"), servers: answer.servers)
    try await setup.run { worker, bench in
      let two = try ScriptedUpstream(
        on: worker, host: "127.0.0.2", port: bench.upstream.address.port, Self.session("two"))
      #expect(try await bench.get("/").text == "one")
      #expect(try await bench.get("/").text == "one")
      answer.hosts.withLock { $0 = ["127.0.0.9", "127.0.0.2"] }
      var last = "one"
      await bench.eventually("the second server is used") {
        last = (try? await bench.get("/").text) ?? "one"
        return last != "one"
      }
      #expect(last == "two")
      await bench.eventually("the old connection is closed") { bench.upstream.running == 0 }
      await bench.eventually("the scripts of the second server have ended") {
        two.closeAll()
        return two.running == 0
      }
    }
  }

  @Test("A connection serves its maximum number of requests, and none after its maximum age")
  func connectionLimits() async throws {
    let configurations: [@Sendable (inout ProxyConfiguration) -> Void] = [
      { $0.requestsPerUpstreamConnection = 3 }, { $0.upstreamConnectionAge = 0 },
    ]
    for (configure, expected) in zip(configurations, [3, 7]) {
      try await Bench.Setup(upstream: Self.session("one"), configure: configure).run { _, bench in
        for _ in 0..<7 { _ = try await bench.get("/") }
        #expect(bench.upstream.connections == expected)
      }
    }
  }

  @Test("The addresses of a name are tried with alternating families")
  func interleaved() throws {
    let texts = ["::1", "::2", "::3", "127.0.0.1", "127.0.0.2"]
    let addresses = try texts.map { try #require(Address(literal: $0, port: 1)) }
    #expect(UpstreamServers.interleave(addresses).map(\.host) == ["::1", "127.0.0.1", "::2", "127.0.0.2", "::3"])
    #expect(UpstreamServers.interleave([]).isEmpty)
  }

  @Test("At most 16 addresses are used, each once")
  func bounded() {
    let locations = (0..<40).map { ServerLocation.host("127.0.0.\($0 / 2)", port: 80) }
    let servers = UpstreamServers(locations)
    let (addresses, _) = servers.refresh(now: 0)
    #expect(addresses.count == 16)
    #expect(Set(addresses.map(\.name)).count == 16)
    #expect(Set(addresses.map(\.id)).count == 16)
  }

  @Test("The outages of an address double up to five minutes, and begin with ten seconds after a time of service")
  func outages() {
    let address = UpstreamAddress(.unixSocket(path: "/a"), id: 1)
    var now: MonotonicTime = 1_000
    for expected in [10, 20, 40, 80, 160, 300, 300] {
      if address.isOut { address.stayOut(now: now) } else { address.takeOut(now: now) }
      #expect(address.returnTime == (now + Milliseconds(expected * 1_000)).milliseconds)
      // A second report of the same failure changes nothing.
      address.takeOut(now: now + 5)
      #expect(address.returnTime == (now + Milliseconds(expected * 1_000)).milliseconds)
      now += Milliseconds(expected * 1_000)
    }
    #expect(!address.beginTest(now: now - 1, atMost: 5_000))
    #expect(address.beginTest(now: now, atMost: 5_000))
    #expect(!address.beginTest(now: now, atMost: 5_000))
    address.putBack(now: now)
    #expect(!address.isOut)
    now += 1_000
    address.takeOut(now: now)
    #expect(address.returnTime == (now + 300_000).milliseconds)
    address.putBack(now: now)
    now += 300_001
    address.takeOut(now: now)
    #expect(address.returnTime == (now + 10_000).milliseconds)
  }
}

extension MonotonicTime {
  fileprivate static func - (time: MonotonicTime, milliseconds: UInt64) -> MonotonicTime {
    MonotonicTime(milliseconds: time.milliseconds - milliseconds)
  }
}
