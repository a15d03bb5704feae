import Reactor
import Testing
import Time

@testable import Proxy

/// The limits in time of an exchange, with a clock of the test's own.
@Suite("The deadlines of an exchange")
struct ExchangeDeadlinesTests {
  private static let settings = ExchangeDeadlines.Settings(
    progress: ProgressMeter.Limits(timeout: 60_000, rate: 500, window: 20_000), tunnelTimeout: 600_000,
    responseTimeout: 30_000)

  /// The waits of one exchange, which begins at 1 s.
  private struct Waits {
    var state: ExchangeState
    var deadlines = ExchangeDeadlines(requestTimeout: 3_600_000, now: 1_000)
    var now: MonotonicTime = 1_000
    var taken = 0

    init(_ request: ExchangeState.Request, _ events: ExchangeState.Event...) {
      state = ExchangeState(request)
      for event in events { _ = state.step(event) }
    }

    /// Begins a wait; the time from now to its end.
    mutating func begin() -> Milliseconds {
      deadlines.begin(state, ExchangeDeadlinesTests.settings, now: now, clientBytes: { taken }) - now
    }

    /// Ends the wait after a time; the limit that was met.
    mutating func end(_ wake: Wake, after time: Milliseconds) -> ExchangeState.Limit? {
      now += time
      return deadlines.end(
        wake, state, ExchangeDeadlinesTests.settings, now: now, clientBytes: { taken }, unit: { 0 })
    }
  }

  private static let bodyless = ExchangeState.Request.head(isIdempotent: true, asksForSwitch: false)
  private static let start = ExchangeState.Event.connected(isReused: false)

  @Test("A response must begin within its time after the request was sent, however often the wait is woken")
  func response() {
    var waits = Waits(ExchangeDeadlinesTests.bodyless, ExchangeDeadlinesTests.start, .upload(.done))
    #expect(waits.begin() == 30_000)
    #expect(waits.end(.ready, after: 10_000) == nil)
    #expect(waits.begin() == 20_000)
    #expect(waits.end(.timedOut, after: 20_000) == .progress)
    waits.deadlines.restartResponseTimeout()
    #expect(waits.begin() == 30_000)
  }

  @Test("Bytes of a response renew the time for the next ones")
  func progress() {
    var waits = Waits(
      ExchangeDeadlinesTests.bodyless, ExchangeDeadlinesTests.start, .upload(.done), .began(upstreamKeepsAlive: true),
      .download(.waiting(.upstream)))
    for _ in 0..<3 {
      #expect(waits.begin() == 60_000)
      #expect(waits.end(.ready, after: 59_000) == nil)
    }
    #expect(waits.begin() == 60_000)
    #expect(waits.end(.timedOut, after: 60_000) == .progress)
  }

  @Test("A request as a whole has its time, which a tunnel and a request for one have not")
  func request() {
    var waits = Waits(
      ExchangeDeadlinesTests.bodyless, ExchangeDeadlinesTests.start, .upload(.done), .began(upstreamKeepsAlive: true),
      .download(.waiting(.upstream)))
    waits.now += 3_590_000
    #expect(waits.begin() == 10_000)
    #expect(waits.end(.timedOut, after: 10_000) == .request)
    #expect(waits.deadlines.requestHasTimedOut(waits.state, now: waits.now))
    let upgrade = ExchangeState.Request.head(isIdempotent: true, asksForSwitch: true)
    var tunnel = Waits(upgrade, ExchangeDeadlinesTests.start, .upload(.done))
    tunnel.now += 3_600_000
    #expect(tunnel.begin() == 30_000)
    _ = tunnel.state.step(.switched)
    tunnel.now += 3_600_000
    #expect(tunnel.begin() == 600_000)
    #expect(!tunnel.deadlines.requestHasTimedOut(tunnel.state, now: tunnel.now))
  }

  @Test("A tunnel without traffic has its own time, and one whose bytes a side does not accept has that of a body")
  func tunnel() {
    let upgrade = ExchangeState.Request.head(isIdempotent: true, asksForSwitch: true)
    var waits = Waits(
      upgrade, ExchangeDeadlinesTests.start, .upload(.done), .switched, .download(.waiting(.upstream)),
      .upload(.waiting(.client)), .download(.waiting(.upstream)))
    #expect(waits.begin() == 600_000)
    #expect(waits.end(.timedOut, after: 600_000) == .progress)
    #expect(waits.state.step(.expired(.progress)) == .closeQuietTunnel)
    for (upload, download) in [(ExchangeState.Side.upstream, ExchangeState.Side.upstream), (.client, .client)] {
      var blocked = Waits(
        upgrade, ExchangeDeadlinesTests.start, .upload(.done), .switched, .download(.waiting(.upstream)),
        .upload(.waiting(upload)), .download(.waiting(download)))
      #expect(blocked.begin() == 60_000)
      #expect(blocked.end(.timedOut, after: 60_000) == .progress)
    }
  }

  @Test("A client that takes nothing has its time, and is looked at before its end")
  func stall() {
    var waits = Waits(
      ExchangeDeadlinesTests.bodyless, ExchangeDeadlinesTests.start, .upload(.done), .began(upstreamKeepsAlive: true),
      .download(.waiting(.client)))
    #expect(waits.begin() == 15_000)
    #expect(waits.end(.timedOut, after: 15_000) == nil)
    waits.taken = 1_000_000
    // The rest of the window in which its rate is measured.
    #expect(waits.begin() == 5_000)
    #expect(waits.end(.timedOut, after: 5_000) == nil)
    #expect(waits.begin() == 15_000)
    #expect(waits.end(.timedOut, after: 15_000) == nil)
    #expect(waits.begin() == 5_000)
    #expect(waits.end(.timedOut, after: 5_000) == .rate)
  }

  @Test("A client that takes nothing at all is late after the time without progress, where no rate is asked for")
  func stallWithoutRate() {
    var settings = ExchangeDeadlinesTests.settings
    settings.progress.rate = 0
    var waits = Waits(
      ExchangeDeadlinesTests.bodyless, ExchangeDeadlinesTests.start, .upload(.done), .began(upstreamKeepsAlive: true),
      .download(.waiting(.client)))
    var limit: ExchangeState.Limit?
    while limit == nil, waits.now < 200_000 {
      let end = waits.deadlines.begin(waits.state, settings, now: waits.now, clientBytes: { 7 })
      waits.now = end
      limit = waits.deadlines.end(.timedOut, waits.state, settings, now: waits.now, clientBytes: { 7 }, unit: { 0 })
    }
    #expect(limit == .stall)
    #expect(waits.now == 61_000)
  }

  @Test("A client that sends its request too slowly is late at the end of a window, a fast one is not")
  func rate() {
    for (bytes, limit) in [(9_999, .rate), (10_000, nil)] as [(Int, ExchangeState.Limit?)] {
      var waits = Waits(
        .body(isLast: false), ExchangeDeadlinesTests.start, .upload(.waiting(.client)),
        .download(.waiting(.upstream)))
      #expect(waits.begin() == 15_000)
      waits.taken = bytes
      #expect(waits.end(.ready, after: 15_000) == nil)
      #expect(waits.begin() == 5_000)
      #expect(waits.end(.timedOut, after: 5_000) == limit)
    }
  }

  @Test("Time in which the upstream is waited for too does not count against the client's rate")
  func unpaced() {
    var waits = Waits(
      .body(isLast: false), ExchangeDeadlinesTests.start, .upload(.waiting(.upstream)),
      .download(.waiting(.upstream)))
    #expect(waits.begin() == 60_000)
    #expect(!waits.deadlines.mayHaveExceededLimit(.ready))
    #expect(waits.end(.ready, after: 50_000) == nil)
  }

  @Test("A wake-up without bytes does not renew the time of a client that sends nothing")
  func noise() {
    var settings = ExchangeDeadlinesTests.settings
    settings.progress.rate = 0
    var waits = Waits(
      .body(isLast: false), ExchangeDeadlinesTests.start, .upload(.waiting(.client)),
      .download(.waiting(.upstream)))
    var limit: ExchangeState.Limit?
    while limit == nil, waits.now < 200_000 {
      let end = waits.deadlines.begin(waits.state, settings, now: waits.now, clientBytes: { 7 })
      // Messages of TLS wake the task, except at a deadline.
      let isNoise = waits.now + 10_000 < end
      waits.now = isNoise ? waits.now + 10_000 : end
      limit = waits.deadlines.end(
        isNoise ? .ready : .timedOut, waits.state, settings, now: waits.now, clientBytes: { 7 }, unit: { 0 })
    }
    #expect(limit == .stall)
    #expect(waits.now == 61_000)
  }
}
