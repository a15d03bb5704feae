import Telemetry
import Testing
import Time

@Suite("Decisions over time and by client")
struct DecisionActivityTests {
  private let registry = MetricsRegistry(workers: 2, policyVersion: "v1")
  /// The start of a minute.
  private static let start: Int64 = 1_795_000_020_000
  private static let minute = DecisionMinute.number(of: Timestamp(milliseconds: start))

  private static func time(minutes: Int64, milliseconds: Int64 = 0) -> Timestamp {
    Timestamp(milliseconds: start + minutes * 60_000 + milliseconds)
  }

  @Test("Each decision counts in its own minute, over all workers, until 120 minutes have passed")
  func minutes() {
    registry.workers[0].decide(.forward, client: nil, time: Self.time(minutes: 0))
    registry.workers[1].decide(.reject, client: nil, rule: "a", time: Self.time(minutes: 0, milliseconds: 59_999))
    registry.workers[0].refusedUnlogged(at: .token, rule: "log-unavailable", time: Self.time(minutes: 1))
    registry.workers[0].decide(.wouldReject, client: nil, rule: "a", time: Self.time(minutes: 119))
    registry.workers[0].decide(.notObservable, client: nil, time: Self.time(minutes: 119))
    func series(_ last: Int64) -> [DecisionMinute] { registry.activity().series(endingAt: Self.minute + last) }
    let full = series(119)
    #expect(full.count == 120 && full.first?.minute == Self.minute)
    #expect(full.first?.forwarded == 1 && full.first?.rejected == 1)
    #expect(full[1].rejected == 1 && full[1].forwarded == 0)
    #expect(full.last?.wouldReject == 1 && full.last?.notObservable == 1)
    // A minute later, the first one is out of the window, although no decision has replaced it.
    #expect(series(120).first?.rejected == 1 && series(120).first?.forwarded == 0)
    // A decision of a later minute takes the place of the one 120 minutes earlier.
    registry.workers[0].decide(.forward, client: nil, time: Self.time(minutes: 120))
    #expect(series(120).last?.forwarded == 1)
    #expect(series(119).first?.forwarded == 0 && series(119).first?.rejected == 1)
  }

  @Test("A clock that is set back neither stops the counting nor moves earlier decisions")
  func setBack() {
    registry.workers[0].decide(.forward, client: "mail", time: Self.time(minutes: 10))
    registry.workers[0].decide(.forward, client: "mail", time: Self.time(minutes: 3))
    let series = registry.activity().series(endingAt: Self.minute + 10, count: 11)
    #expect(series.map(\.forwarded) == [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1])
    let client = registry.activity().clients["mail"]
    #expect(client?.first == Self.time(minutes: 3) && client?.last == Self.time(minutes: 10))
  }

  @Test("A client has its requests, and each rule with its number, times and latest request")
  func clients() throws {
    let worker = registry.workers[0]
    worker.decide(
      .wouldReject, client: "mail", rule: "pkce-required",
      findings: ["would-reject:pkce-required", "would-reject:scope", "state-missing"], time: Self.time(minutes: 0))
    registry.workers[1].decide(.wouldReject, client: "mail", rule: "scope", time: Self.time(minutes: 1))
    worker.decide(.notObservable, client: "mail", time: Self.time(minutes: 2))
    let client = try #require(registry.activity().clients["mail"])
    #expect(client.requests == 3 && client.refused == 2 && client.notObservable == 1)
    #expect(client.refusals["pkce-required"]?.count == 1)
    let scope = try #require(client.refusals["scope"])
    #expect(scope.count == 2 && scope.first == Self.time(minutes: 0) && scope.last == Self.time(minutes: 1))
    #expect(scope.example.time == Self.time(minutes: 1))
  }

  @Test("Ids that the policy does not list take no room from its clients, and the rest is counted together")
  func unlisted() {
    for number in 0..<150 { registry.workers[0].decide(.reject, client: "x\(number)", isListed: false, rule: "r") }
    for number in 0..<1_010 { registry.workers[1].decide(.forward, client: "c\(number)") }
    let activity = registry.activity()
    #expect(activity.clients.values.count { !$0.isListed } == 100)
    #expect(activity.clients.values.count { $0.isListed } == 1_000)
    #expect(activity.omittedRequests == 60)
    // An id that a reload has added to the policy makes room for another unlisted one.
    registry.workers[0].decide(.reject, client: "x1", isListed: false, rule: "r")
    registry.workers[0].decide(.forward, client: "x1")
    registry.workers[0].decide(.reject, client: "y", isListed: false, rule: "r")
    #expect(registry.activity().clients["y"]?.requests == 1 && registry.activity().clients["x1"]?.isListed == true)
  }

  @Test("Random ids of one network hide neither an id of another network nor one that the server knows")
  func flood() {
    let worker = registry.workers[0]
    worker.decide(.wouldReject, client: "real", isListed: false, rule: "client-unknown", upstreamStatus: 200)
    for number in 0..<500 {
      worker.decide(.wouldReject, client: "x\(number)", isListed: false, rule: "client-unknown", upstreamStatus: 401)
      if number == 200 {
        for peer in ["2001:db8:1:2::3", "198.51.100.4"] {
          worker.decide(.reject, client: peer, isListed: false, rule: "client-unknown", peer: peer)
        }
      }
    }
    let activity = registry.activity()
    #expect(activity.clients["real"]?.requests == 1)
    #expect(activity.clients["2001:db8:1:2::3"] != nil && activity.clients["198.51.100.4"] != nil)
    #expect(activity.clients.count == 101 && activity.omittedRequests == 402)
    // The id with the most requests of a network stays.
    for _ in 0..<3 { worker.decide(.reject, client: "often", isListed: false, rule: "client-unknown") }
    for number in 0..<200 { worker.decide(.reject, client: "y\(number)", isListed: false, rule: "client-unknown") }
    #expect(registry.activity().clients["often"]?.requests == 3)
  }

  @Test("The number of pairs of a client and a rule is limited")
  func pairs() {
    for rule in 0..<11 {
      for number in 0..<1_000 { registry.workers[0].decide(.reject, client: "c\(number)", rule: "r\(rule)") }
    }
    let clients = registry.activity().clients.values
    #expect(clients.reduce(0) { $0 + $1.refusals.count } == 10_000)
    #expect(clients.allSatisfy { $0.refused == 11 })
  }

  @Test("A quantile is interpolated in its bucket, and is the last bound for longer durations")
  func quantiles() throws {
    let worker = registry.workers[0]
    #expect(registry.snapshot().durations[.pass]?.quantile(0.5) == nil)
    for _ in 0..<50 { worker.requestFinished(.pass, status: 200, durationNanoseconds: 900_000) }
    for _ in 0..<50 { worker.requestFinished(.pass, status: 200, durationNanoseconds: 2_000_000) }
    let histogram = try #require(registry.snapshot().durations[.pass])
    #expect(histogram.quantile(0.5) == 0.001)
    #expect(try abs(#require(histogram.quantile(0.75)) - 0.00175) < 0.000_001)
    worker.requestFinished(.answer, status: 200, durationNanoseconds: 400_000_000_000)
    #expect(registry.snapshot().durations[.answer]?.quantile(0.5) == 300)
  }
}
