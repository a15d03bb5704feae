import DiceTestSupport
import Reactor
import Testing
import Time

@testable import Proxy

/// Exchanges with peers that do anything at any time.
@Suite("The state of an exchange, with random peers")
struct ExchangePropertyTests {
  @Test("Whatever the peers do, an exchange keeps its rules", arguments: 0..<40)
  func rules(_ seed: UInt64) {
    for round in 0..<250 {
      var peers = RandomPeers(seed: seed << 32 | UInt64(round))
      peers.run(steps: 60)
      #expect(peers.broken.isEmpty, "seed \(seed), round \(round): \(peers.history)")
      if !peers.broken.isEmpty { return }
    }
  }

  @Test("Whatever has happened, an exchange ends once its peers are silent", arguments: 0..<40)
  func silence(_ seed: UInt64) {
    for round in 0..<250 {
      var peers = RandomPeers(seed: seed << 32 | UInt64(round))
      peers.run(steps: round % 50)
      peers.isSilent = true
      peers.run(steps: 60)
      #expect(peers.hasEnded, "seed \(seed), round \(round): \(peers.history)")
      if !peers.hasEnded { return }
    }
  }

  @Test("An exchange whose peers go on for ever ends at its limit, unless it is a tunnel", arguments: 0..<20)
  func endless(_ seed: UInt64) {
    var peers = RandomPeers(seed: seed)
    peers.isEndless = true
    peers.run(steps: 200_000)
    #expect(peers.hasEnded || peers.state.isTunnel, "seed \(seed)")
  }

  @Test("Events that do not fit the state never lead back to an earlier phase", arguments: 0..<40)
  func misfits(_ seed: UInt64) {
    var random = RandomEvents(seed: seed)
    for request in RandomPeers.requests {
      var state = ExchangeState(request)
      for _ in 0..<500 {
        let before = state
        let event = random.anyEvent()
        let action = state.step(event)
        #expect(!before.hasResponse || state.hasResponse)
        #expect(!before.isTunnel || state.isTunnel)
        #expect(before.phase != .delivering || state.phase == .delivering)
        #expect(action != .upload || state.isUploading)
        #expect(action != .retry || before.mayRepeat && !before.hasResponse)
        #expect(!state.mayRepeat || state.isHeadInBuffer)
        #expect(!state.isHeadInBuffer || !state.hasResponse)
        #expect(action != .finish(mayReuse: true) || before.hasResponse && !before.isTunnel)
        #expect(action != .release(mayReuse: true) || before.hasResponse && state.phase == .delivering)
        #expect(action != .finishDelivery || before.phase == .delivering)
        if case .fail = action { #expect(state == before) }
      }
    }
  }
}

/// A client and an upstream that report a random event for each action, among those that the action can lead to.
private struct RandomPeers {
  static let requests: [ExchangeState.Request] = [
    .head(isIdempotent: true, asksForSwitch: false), .head(isIdempotent: false, asksForSwitch: false),
    .head(isIdempotent: true, asksForSwitch: true), .body(isLast: false), .body(isLast: true),
  ]
  private static let settings = ExchangeDeadlines.Settings(
    progress: ProgressMeter.Limits(timeout: 60_000, rate: 500, window: 20_000), tunnelTimeout: 600_000,
    responseTimeout: 30_000)

  private(set) var state: ExchangeState
  private(set) var history: [ExchangeState.Event] = []
  /// The rules that were broken.
  private(set) var broken: [String] = []
  private(set) var hasEnded = false
  /// Nothing moves any more.
  var isSilent = false
  /// Something always moves, and neither side ends.
  var isEndless = false
  private var random: RandomEvents
  private var action = ExchangeState.Action.retry
  private var deadlines = ExchangeDeadlines(requestTimeout: 3_600_000, now: 0)
  private var now: MonotonicTime = 0
  private var taken = 0
  // The events so far, as the rules need them.
  private var attempts = 0
  private var isReused = false
  private var isSent = false
  private var isCut = false
  private var keepsAlive = false
  private var hasResponse = false

  init(seed: UInt64) {
    random = RandomEvents(seed: seed)
    state = ExchangeState(random.pick(RandomPeers.requests))
  }

  mutating func run(steps: Int) {
    for _ in 0..<steps where !hasEnded {
      let event = report()
      history.append(event)
      note(event)
      let before = state
      action = state.step(event)
      check(before)
    }
  }

  /// The event that the action leads to.
  private mutating func report() -> ExchangeState.Event {
    switch action {
    case .retry:
      attempts += 1
      isReused = attempts == 1 && random.flip()
      return .connected(isReused: isReused)
    case .upload: return upload()
    case .download: return download()
    case .shutDownUpstream: return .upload(.done)
    case .wait: return wait()
    case .yield: return deadlines.requestHasTimedOut(state, now: now) ? .expired(.request) : .yielded
    case .release: return .download(.waiting(.client))
    case .finish, .finishDelivery, .closeQuietTunnel, .fail: return .clientGone
    }
  }

  private mutating func upload() -> ExchangeState.Event {
    if isSilent { return .upload(.waiting(random.pick([.client, .upstream]))) }
    move()
    if state.hasUsedShare { return .upload(.paused) }
    var waits: [ExchangeState.Event] = [.upload(.waiting(.upstream))]
    if case .head = state.request, !state.isTunnel {
      // All of it is here.
      if isEndless { return .upload(.done) }
    } else {
      waits.append(.upload(.waiting(.client)))
    }
    if isEndless { return random.pick(waits) }
    // What a client sends in a tunnel has no end but that of its side.
    return random.pick(
      waits + (state.isTunnel ? [] : [.upload(.done)]) + [.clientEnded, .upstreamRefused, .clientGone])
  }

  private mutating func download() -> ExchangeState.Event {
    if state.phase == .delivering {
      return isSilent || isEndless
        ? .download(.waiting(.client)) : random.pick([.download(.waiting(.client)), .download(.done), .clientGone])
    }
    if isSilent { return .download(.waiting(state.hasResponse ? random.pick([.client, .upstream]) : .upstream)) }
    move()
    guard state.hasResponse else {
      if isEndless { return .download(.waiting(.upstream)) }
      let begun: ExchangeState.Event =
        state.asksForSwitch && random.flip() ? .switched : .began(upstreamKeepsAlive: random.flip())
      return random.pick([.download(.waiting(.upstream)), begun, .upstreamReset(hasInput: random.flip())])
    }
    if state.hasUsedShare { return .download(.paused) }
    let waits: [ExchangeState.Event] = [.download(.waiting(.client)), .download(.waiting(.upstream))]
    if isEndless { return random.pick(waits) }
    return random.pick(
      waits + (state.isTunnel ? [] : [.received])
        + [.download(.done), .upstreamReset(hasInput: random.flip()), .clientGone])
  }

  private mutating func wait() -> ExchangeState.Event {
    let end = deadlines.begin(state, RandomPeers.settings, now: now, clientBytes: { taken })
    if end < now { broken.append("a wait that ends before it begins") }
    let isReady = !isSilent && (isEndless || random.flip()) && now + 5_000 < end
    now = isReady ? now + 5_000 : end
    if isReady { taken += 10_000 }
    let limit = deadlines.end(
      isReady ? .ready : .timedOut, state, RandomPeers.settings, now: now, clientBytes: { taken }, unit: { 0 })
    return limit.map { .expired($0) } ?? .woke
  }

  private mutating func move() {
    state.chargeStep(bytes: random.pick([0, 100, 5_000, 40_000]))
  }

  private mutating func note(_ event: ExchangeState.Event) {
    switch event {
    case .connected: (isSent, isCut) = (false, false)
    case .upload(.done): isSent = true
    case .upstreamRefused: isCut = true
    case .began(let keepsAlive):
      hasResponse = true
      self.keepsAlive = keepsAlive
    case .switched: hasResponse = true
    default: break
    }
  }

  private mutating func check(_ before: ExchangeState) {
    func rule(_ holds: Bool, _ name: String) {
      if !holds { broken.append(name) }
    }
    switch action {
    case .upload:
      rule(!hasResponse || state.isTunnel, "an upload behind a response")
      rule(!isCut && !(isSent && !state.isTunnel), "an upload after its end")
    case .retry:
      rule(before.request == .head(isIdempotent: true, asksForSwitch: before.asksForSwitch), "a repeated request")
      rule(isReused && !hasResponse && attempts == 1, "a repetition of what may have been done")
    case .finish(let mayReuse), .release(let mayReuse):
      if case .finish = action { hasEnded = true }
      rule(hasResponse, "an end without a response")
      rule(before.phase != .delivering, "a connection that is released twice")
      let isReusable = isSent && !isCut && keepsAlive && !state.isTunnel
      rule(mayReuse == (isReusable && state.request != .body(isLast: true)), "reuse of a connection")
    case .finishDelivery:
      hasEnded = true
      rule(before.phase == .delivering, "an end without its connection")
    case .wait, .yield: rule((action == .yield) == state.hasUsedShare, "a wait in place of others' turn")
    case .closeQuietTunnel:
      hasEnded = true
      rule(state.isTunnel, "a quiet end without a tunnel")
    case .fail: hasEnded = true
    case .shutDownUpstream: rule(state.isTunnel, "a half-closed request")
    case .download: break
    }
    rule(state.hasResponse == hasResponse, "the phase")
    rule(!state.isHeadInBuffer || !hasResponse, "a kept head behind a response")
    rule(!state.mayRepeat || state.isHeadInBuffer, "a repetition without a head")
  }
}

/// Random choices that a seed repeats.
private struct RandomEvents {
  private var generator: SeededGenerator

  init(seed: UInt64) {
    generator = SeededGenerator(seed: seed)
  }

  mutating func flip() -> Bool { Bool.random(using: &generator) }

  mutating func pick<Value>(_ values: [Value]) -> Value {
    values[Int.random(in: values.indices, using: &generator)]
  }

  mutating func anyEvent() -> ExchangeState.Event {
    let progress: ExchangeState.Progress = pick([.waiting(.client), .waiting(.upstream), .paused, .done])
    return pick([
      .connected(isReused: flip()), .upload(progress), .clientEnded, .upstreamRefused,
      .began(upstreamKeepsAlive: flip()),
      .switched, .download(progress), .received, .upstreamReset(hasInput: flip()), .woke,
      .expired(pick([.request, .stall, .rate, .progress])), .yielded, .clientGone,
    ])
  }
}
