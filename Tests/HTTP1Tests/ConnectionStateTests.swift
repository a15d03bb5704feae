import HTTP1
import Testing

struct ConnectionStateTests {
  /// The reachable states of an exchange: the received part of the request and the progress of the response.
  enum Response: CaseIterable {
    case awaited
    case sending
    case complete
    case cut
  }

  private func state(received: Bool, _ response: Response, keepsAlive: Bool) -> ConnectionState {
    var state = ConnectionState()
    state.receivedHead(hasBody: true, keepsAlive: keepsAlive)
    if received { state.receivedBody() }
    if response != .awaited { state.startedResponse() }
    if response == .complete { state.finishedResponse() }
    if response == .cut { state.cutResponse() }
    return state
  }

  @Test("The next step of the connection follows from the states of request and response")
  func table() {
    for keepsAlive in [true, false] {
      #expect(state(received: true, .complete, keepsAlive: keepsAlive).next == (keepsAlive ? .readHead : .close))
      #expect(state(received: false, .complete, keepsAlive: keepsAlive).next == .drainAndClose)
      for received in [true, false] {
        #expect(state(received: received, .cut, keepsAlive: keepsAlive).next == .reset)
        #expect(state(received: received, .sending, keepsAlive: keepsAlive).next == .reset)
        #expect(state(received: received, .awaited, keepsAlive: keepsAlive).next == .close)
      }
    }
  }

  @Test("A response that has not begun cannot be cut")
  func cutBeforeStart() {
    var state = ConnectionState()
    state.receivedHead(hasBody: false, keepsAlive: true)
    state.cutResponse()
    #expect(state.next == .close)
    #expect(!state.hasStartedResponse)
  }

  @Test("A complete response cannot be cut any more")
  func cutAfterEnd() {
    var state = state(received: true, .complete, keepsAlive: true)
    state.cutResponse()
    #expect(state.next == .readHead)
  }

  @Test("A response announces keep-alive only if the request was read completely")
  func announcement() {
    #expect(state(received: true, .awaited, keepsAlive: true).announcesKeepAlive)
    #expect(!state(received: false, .awaited, keepsAlive: true).announcesKeepAlive)
    #expect(!state(received: true, .awaited, keepsAlive: false).announcesKeepAlive)
    var refused = state(received: true, .awaited, keepsAlive: true)
    refused.refuseFurtherRequests()
    #expect(!refused.announcesKeepAlive)
  }

  @Test("A head without a body is a complete request, and heads are counted")
  func heads() {
    var state = ConnectionState()
    state.receivedHead(hasBody: false, keepsAlive: true)
    #expect(state.isRequestComplete)
    state.startedResponse()
    state.finishedResponse()
    state.receivedHead(hasBody: true, keepsAlive: true)
    #expect(!state.isRequestComplete)
    #expect(!state.hasStartedResponse)
    #expect(state.requestCount == 2)
  }
}
