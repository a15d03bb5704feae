import Reactor
import Testing

@testable import Proxy

/// The transitions of an exchange, without a socket.
@Suite("The state of an exchange")
struct ExchangeStateTests {
  typealias State = ExchangeState

  private static let idempotent = State.Request.head(isIdempotent: true, asksForSwitch: false)
  private static let upgrade = State.Request.head(isIdempotent: true, asksForSwitch: true)
  private static let body = State.Request.body(isLast: false)

  /// The state after events, and the last action.
  private func after(_ request: State.Request, _ events: State.Event...) -> (State, State.Action?) {
    var state = State(request)
    var action: State.Action?
    for event in events { action = state.step(event) }
    return (state, action)
  }

  private func tunnel(_ events: State.Event...) -> (State, State.Action?) {
    var (state, action) = after(
      ExchangeStateTests.upgrade, .connected(isReused: false), .upload(.done), .download(.waiting(.upstream)), .woke,
      .switched)
    for event in events { action = state.step(event) }
    return (state, action)
  }

  // MARK: The way of a request

  @Test("A request without a body goes up once, waits for its response, and passes it down")
  func passing() {
    var state = State(ExchangeStateTests.idempotent)
    #expect(state.step(.connected(isReused: true)) == .upload)
    #expect(state.step(.upload(.done)) == .download)
    #expect(state.step(.download(.waiting(.upstream))) == .wait)
    #expect(state.interest == ([], .readable))
    #expect(state.step(.woke) == .download)
    #expect(state.step(.began(upstreamKeepsAlive: true)) == .download)
    #expect(state.step(.download(.done)) == .finish(mayReuse: true))
  }

  @Test("While the request goes up, each turn tries both directions, and waits for what each of them lacks")
  func turns() {
    var (state, action) = after(
      ExchangeStateTests.body, .connected(isReused: false), .upload(.waiting(.client)), .download(.waiting(.upstream)))
    #expect(action == .wait)
    #expect(state.interest == (.readable, .readable))
    #expect(state.awaitsRequest)
    #expect(state.step(.woke) == .upload)
    #expect(state.step(.upload(.waiting(.upstream))) == .download)
    #expect(state.step(.download(.waiting(.upstream))) == .wait)
    #expect(state.interest == ([], [.readable, .writable]))
    #expect(!state.awaitsRequest)
  }

  @Test("A client that takes no more is waited for, and the upstream is not read meanwhile")
  func blockedDown() {
    let (state, action) = after(
      ExchangeStateTests.idempotent, .connected(isReused: false), .upload(.done), .began(upstreamKeepsAlive: true),
      .download(.waiting(.client)))
    #expect(action == .wait)
    #expect(state.isBlockedByClient)
    #expect(state.interest == (.writable, []))
  }

  @Test("A client that takes no more of a response that is here keeps no upstream connection")
  func delivery() {
    for (request, keepsAlive, mayReuse) in [
      (ExchangeStateTests.idempotent, true, true), (ExchangeStateTests.idempotent, false, false),
      (.body(isLast: true), true, false),
    ] {
      var (state, action) = after(
        request, .connected(isReused: false), .upload(.done), .began(upstreamKeepsAlive: keepsAlive), .received)
      #expect(action == .release(mayReuse: mayReuse))
      #expect(state.step(.download(.waiting(.client))) == .wait)
      #expect(state.isBlockedByClient && state.hasResponse && !state.isSwitching && !state.isUploading)
      #expect(state.interest == (.writable, []))
      #expect(state.step(.woke) == .download)
      #expect(state.step(.download(.done)) == .finishDelivery)
    }
  }

  @Test("A client that does not take the rest of a response meets the limits after the release too")
  func lateDelivery() {
    let (released, _) = after(
      ExchangeStateTests.idempotent, .connected(isReused: false), .upload(.done), .began(upstreamKeepsAlive: true),
      .received, .download(.waiting(.client)))
    for (event, failure) in [
      (.expired(.stall), .clientTimeout), (.expired(.rate), .tooSlow), (.expired(.request), .tooLong),
      (.clientGone, .clientGone),
    ] as [(State.Event, State.Failure)] {
      var state = released
      #expect(state.step(event) == .fail(failure))
    }
  }

  @Test("An exchange that has moved its share lets others run before it goes on")
  func shares() {
    var (state, _) = after(ExchangeStateTests.body, .connected(isReused: false))
    state.chargeStep(bytes: State.share - 1)
    #expect(!state.hasUsedShare)
    state.chargeStep(bytes: 1)
    #expect(state.hasUsedShare)
    #expect(state.step(.upload(.paused)) == .download)
    #expect(state.step(.download(.waiting(.upstream))) == .yield)
    #expect(state.step(.yielded) == .upload)
    #expect(!state.hasUsedShare)
  }

  @Test("Steps without bytes use the share too: an exchange whose waits return at once lets others run")
  func emptySteps() {
    var (state, action) = after(ExchangeStateTests.idempotent, .connected(isReused: false), .upload(.done))
    var waits = 0
    while action != .yield, waits < 1_000 {
      action = state.step(.download(.waiting(.upstream)))
      if action == .wait {
        waits += 1
        _ = state.step(.woke)
      }
    }
    #expect(waits == State.share / State.stepCost)
  }

  // MARK: Early ends of the request

  @Test("A response that begins before the request has ended stops the upload, and its connection is not used again")
  func earlyResponse() {
    var (state, action) = after(
      ExchangeStateTests.body, .connected(isReused: false), .upload(.waiting(.client)), .began(upstreamKeepsAlive: true)
    )
    #expect(action == .download)
    #expect(!state.isUploading)
    #expect(state.step(.download(.waiting(.upstream))) == .wait)
    #expect(state.step(.woke) == .download)
    #expect(state.step(.download(.done)) == .finish(mayReuse: false))
  }

  @Test("An upstream that takes no more of the request may have answered it: the response is waited for")
  func refusedRequest() {
    var (state, action) = after(ExchangeStateTests.body, .connected(isReused: false), .upstreamRefused)
    #expect(action == .download)
    #expect(state.step(.download(.waiting(.upstream))) == .wait)
    #expect(state.interest == ([], .readable))
    #expect(state.step(.woke) == .download)
    #expect(state.step(.began(upstreamKeepsAlive: true)) == .download)
    #expect(state.step(.download(.done)) == .finish(mayReuse: false))
  }

  @Test("A client that ends its side inside the body, or that is gone, ends the exchange")
  func clientGone() {
    let start = State.Event.connected(isReused: false)
    #expect(after(ExchangeStateTests.body, start, .clientEnded).1 == .fail(.clientGone))
    #expect(after(ExchangeStateTests.body, start, .clientGone).1 == .fail(.clientGone))
    #expect(after(ExchangeStateTests.body, start, .upload(.done), .clientGone).1 == .fail(.clientGone))
    #expect(tunnel(.clientGone).1 == .fail(.clientGone))
  }

  @Test("A connection whose server may have left the body unread, or that it closes, carries no other request")
  func reuse() {
    for (request, keepsAlive, mayReuse) in [
      (ExchangeStateTests.body, true, true), (ExchangeStateTests.body, false, false),
      (.body(isLast: true), true, false), (ExchangeStateTests.idempotent, false, false),
    ] {
      let (_, action) = after(
        request, .connected(isReused: false), .upload(.done), .began(upstreamKeepsAlive: keepsAlive), .download(.done))
      #expect(action == .finish(mayReuse: mayReuse))
    }
  }

  @Test("A connection on which trailers were sent carries no other request")
  func trailers() {
    for (end, action) in [
      (State.Event.download(.done), State.Action.finish(mayReuse: false)), (.received, .release(mayReuse: false)),
    ] {
      var (state, _) = after(ExchangeStateTests.body, .connected(isReused: false), .upload(.waiting(.client)))
      state.sendsTrailers()
      for event in [State.Event.download(.waiting(.upstream)), .woke, .upload(.done)] { _ = state.step(event) }
      #expect(state.step(.began(upstreamKeepsAlive: true)) == .download)
      #expect(state.step(end) == action)
    }
  }

  // MARK: Repetition

  @Test("Only an idempotent request without a body is sent again, and only before any byte of a response")
  func repetition() {
    let reset = State.Event.upstreamReset(hasInput: false)
    for (request, isReused, event, action) in [
      (ExchangeStateTests.idempotent, true, reset, .retry),
      (ExchangeStateTests.idempotent, false, reset, .fail(.upstreamReset)),
      (ExchangeStateTests.idempotent, true, .upstreamReset(hasInput: true), .fail(.upstreamReset)),
      (.head(isIdempotent: false, asksForSwitch: false), true, reset, .fail(.upstreamReset)),
      (ExchangeStateTests.body, true, reset, .fail(.upstreamReset)),
    ] as [(State.Request, Bool, State.Event, State.Action)] {
      #expect(after(request, .connected(isReused: isReused), .upload(.done), event).1 == action)
      #expect(after(request, .connected(isReused: isReused), .upstreamRefused, event).1 == action)
    }
  }

  @Test("A request that is sent again begins from its first byte, and is not sent a third time")
  func secondAttempt() {
    let reset = State.Event.upstreamReset(hasInput: false)
    var (state, _) = after(ExchangeStateTests.idempotent, .connected(isReused: true), .upload(.done), reset)
    #expect(state == State(ExchangeStateTests.idempotent))
    #expect(state.step(.connected(isReused: false)) == .upload)
    #expect(state.step(.upload(.done)) == .download)
    #expect(state.step(reset) == .fail(.upstreamReset))
  }

  @Test("A response that has begun is never asked for again")
  func noRepetitionAfterHead() {
    let (state, action) = after(
      ExchangeStateTests.idempotent, .connected(isReused: true), .upload(.done), .began(upstreamKeepsAlive: true),
      .upstreamReset(hasInput: false))
    #expect(action == .fail(.upstreamReset))
    #expect(!state.mayRepeat)
  }

  @Test("The head of a request without a body is kept until a response begins, and that of another is not")
  func keptHead() {
    let sent: [State.Event] = [.connected(isReused: true), .upload(.done)]
    for event in sent.indices {
      var state = State(ExchangeStateTests.idempotent)
      for earlier in sent[...event] { _ = state.step(earlier) }
      #expect(state.isHeadInBuffer && state.mayRepeat)
    }
    #expect(!after(ExchangeStateTests.idempotent, sent[0], sent[1], .began(upstreamKeepsAlive: true)).0.isHeadInBuffer)
    #expect(!State(ExchangeStateTests.body).isHeadInBuffer)
    #expect(!State(relayedRequestAllowsReuse: true).isHeadInBuffer)
    // The error response to a failed request needs it.
    #expect(after(ExchangeStateTests.idempotent, sent[0], sent[1], .expired(.progress)).0.isHeadInBuffer)
  }

  // MARK: Requests of a handler

  @Test("The response to a request of a handler passes down, and its connection is used again if all of it was sent")
  func relayed() {
    for isWhole in [true, false] {
      var state = State(relayedRequestAllowsReuse: isWhole)
      #expect(state.step(.began(upstreamKeepsAlive: true)) == .download)
      #expect(state.step(.download(.done)) == .finish(mayReuse: isWhole))
    }
  }

  // MARK: Tunnels

  @Test("A new tunnel sends on what the client has sent behind its request, without a wait")
  func beginningTunnel() {
    var (state, action) = tunnel()
    #expect(action == .download)
    #expect(state.step(.download(.waiting(.upstream))) == .upload)
    #expect(state.step(.upload(.waiting(.client))) == .download)
    #expect(state.step(.download(.waiting(.upstream))) == .wait)
    #expect(state.interest == (.readable, .readable))
  }

  @Test("A client that ends its side of a tunnel still gets what the upstream sends")
  func halfClosedTunnel() {
    var (state, action) = tunnel(.download(.waiting(.upstream)), .clientEnded)
    #expect(action == .shutDownUpstream)
    #expect(state.step(.upload(.done)) == .download)
    #expect(state.step(.download(.waiting(.upstream))) == .wait)
    #expect(state.interest == ([], .readable))
    #expect(state.step(.woke) == .download)
    #expect(state.step(.download(.done)) == .finish(mayReuse: false))
  }

  @Test("An upstream that takes no more of a tunnel is still read")
  func refusedTunnel() {
    var (state, action) = tunnel(.download(.waiting(.upstream)), .upstreamRefused)
    #expect(action == .download)
    #expect(!state.isUploading)
    #expect(state.step(.download(.waiting(.upstream))) == .wait)
  }

  @Test("An upstream that took no more of the request takes nothing through its tunnel")
  func refusedBeforeTunnel() {
    var (state, action) = after(
      ExchangeStateTests.upgrade, .connected(isReused: false), .upstreamRefused, .switched)
    #expect(action == .download)
    #expect(!state.isUploading)
    #expect(state.step(.download(.waiting(.upstream))) == .wait)
  }

  @Test("A tunnel in which nothing is on its way ends in order; one with bytes on their way fails")
  func quietTunnel() {
    let (down, up) = (State.Event.download(.waiting(.upstream)), State.Event.upload(.waiting(.client)))
    #expect(tunnel(down, up, down, .expired(.progress)).1 == .closeQuietTunnel)
    #expect(tunnel(down, .clientEnded, .upload(.done), down, .expired(.progress)).1 == .closeQuietTunnel)
    #expect(tunnel(down, .upload(.waiting(.upstream)), down, .expired(.progress)).1 == .fail(.responseTimeout))
    #expect(tunnel(down, up, .download(.waiting(.client)), .expired(.progress)).1 == .fail(.responseTimeout))
  }

  @Test("A switch of protocols that was not asked for is no response")
  func unwantedSwitch() {
    let start = State.Event.connected(isReused: false)
    #expect(after(ExchangeStateTests.idempotent, start, .upload(.done), .switched).1 == .fail(.upstreamReset))
    #expect(
      after(ExchangeStateTests.upgrade, start, .upload(.done), .began(upstreamKeepsAlive: true)).0.isSwitching == false)
  }

  // MARK: Limits in time

  @Test("A limit that is met ends the exchange with the failure of the side that is late")
  func limits() {
    let start = State.Event.connected(isReused: false)
    let idle = State.Event.download(.waiting(.upstream))
    for (limit, failure) in [
      (.request, .tooLong), (.stall, .clientTimeout), (.rate, .tooSlow), (.progress, .responseTimeout),
    ] as [(State.Limit, State.Failure)] {
      #expect(after(ExchangeStateTests.idempotent, start, .upload(.done), idle, .expired(limit)).1 == .fail(failure))
    }
    let lateClient = after(ExchangeStateTests.body, start, .upload(.waiting(.client)), idle, .expired(.progress))
    #expect(lateClient.1 == .fail(.clientTimeout))
    let lateUpstream = after(ExchangeStateTests.body, start, .upload(.waiting(.upstream)), idle, .expired(.progress))
    #expect(lateUpstream.1 == .fail(.responseTimeout))
  }
}
