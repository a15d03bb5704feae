import Reactor

/// The state of an exchange, and all of its transitions.
///
/// Theory of operation. `Exchange`, the driver, owns sockets and buffers and moves bytes; this value decides what the
/// driver does next. The driver performs an action and reports the result as an event, and `step` returns the next
/// action. This value holds no references, and gets only the number of moved bytes.
///
/// An exchange works in turns: the upload moves as many bytes as it can, then the download. When neither can continue,
/// the exchange waits for both sockets at once. No event follows the actions `finish`, `finishDelivery`,
/// `closeQuietTunnel` and `fail`.
///
/// In the diagram, the text at an arrow is the event. After a colon follows the new state of the upload, or the action.
///
///                upload(.done): sent
///                upstreamRefused: stopped
///     requesting(open) ----------------------> requesting(sent | stopped)
///      |     |  ^                                |        |
///      |     |  '---- upstreamReset: retry ------'        | began
///      |     '-------------- began: stopped --------------|
///      | switched                                         v
///      v                                              responding
///     tunnel(open)                                        | | received: release
///      |  upload(.done), upstreamRefused                  | '-----------> delivering
///      |                                                  | download(.done)    | download(.done)
///      v                                                  v                    v
///     tunnel(closed) ------- download(.done) ----------> finish         finishDelivery
///
/// - A response that begins while the request is still being sent stops the upload, and the upstream connection is not
///   reused.
/// - A send that fails only stops the upload: the upstream may have answered before it closed the connection.
/// - A request without a body whose method is idempotent is sent again if a reused connection ends before any byte of a
///   response has arrived: the upstream may have closed it while the request was on its way (RFC 9112, section 9.3.1).
/// - If the client does not accept the rest of a response that was received completely, the upstream connection is
///   released before the exchange waits. So clients that accept nothing cannot keep upstream connections from others.
/// - A failure does not change the phase, because the error response depends on the phase.
struct ExchangeState: Equatable {
  /// The properties of the request on which transitions depend.
  enum Request: Equatable {
    /// A request without a body. Its head stays at the front of the receive buffer until a response begins.
    case head(isIdempotent: Bool, asksForSwitch: Bool)
    /// A request with a body. `isLast`: no other request may follow it on the upstream connection. The upstream may leave
    /// the body unread, and was asked to close the connection; or it gets trailers, which it could add to the next request.
    case body(isLast: Bool)
    /// An intercepted request. The handler has already sent its own request to the upstream.
    case relayed
  }

  enum Phase: Equatable {
    /// No final response has begun. `isReused`: the upstream connection was used by an earlier exchange.
    case requesting(Upload, isReused: Bool)
    /// The head of the response was written, and no more of the request is sent. `mayReuse`: the upstream connection
    /// can be used for another exchange after the body.
    case responding(Flow, mayReuse: Bool)
    /// The response was received completely and the upstream connection was released. The client has not accepted the
    /// rest of the response, which is in the send buffer (`Exchange.toClient`).
    case delivering
    /// Bytes of another protocol move in both directions until the upstream ends its side.
    case tunnel(Tunnel, Flow)
  }

  /// The state of sending the request to the upstream.
  enum Upload: Equatable {
    case open(Flow)
    case sent
    /// The upstream accepts no more of the request, or has answered before it had all of it.
    case stopped
  }

  /// The direction of a tunnel from the client to the upstream.
  enum Tunnel: Equatable {
    case open(Flow)
    /// The client has ended its side, or the upstream accepts no more bytes.
    case closed
  }

  /// The state of one direction in which bytes move.
  enum Flow: Equatable {
    /// There may be bytes that can move.
    case ready
    /// No bytes can move until this side sends or accepts some.
    case waiting(Side)
  }

  enum Side: Equatable {
    case client
    case upstream
  }

  enum Event: Equatable {
    /// An upstream connection is available.
    case connected(isReused: Bool)
    case upload(Progress)
    /// The client has ended its side before the end of the upload.
    case clientEnded
    /// The upstream accepts no more bytes.
    case upstreamRefused
    /// The head of the final response was written for the client. `upstreamKeepsAlive`: the upstream keeps its
    /// connection open.
    case began(upstreamKeepsAlive: Bool)
    /// The head of a response that switches protocols (status 101) was written for the client.
    case switched
    case download(Progress)
    /// The response was received completely, but the client accepts no more for now. The rest is in the send buffer
    /// (`Exchange.toClient`).
    case received
    /// The upstream connection ended too early. `hasInput`: received bytes of a head or body are not consumed yet.
    case upstreamReset(hasInput: Bool)
    /// The wait ended because a socket is ready.
    case woke
    /// A time limit was exceeded.
    case expired(Limit)
    /// Other tasks have run.
    case yielded
    /// The client can receive no more bytes, or has abandoned its request.
    case clientGone
  }

  /// The result of an attempt to move bytes in one direction.
  enum Progress: Equatable {
    case waiting(Side)
    /// The exchange has used its share (`hasUsedShare`), so other tasks run first.
    case paused
    case done
  }

  enum Limit: Equatable {
    /// The request as a whole took too long.
    case request
    /// The client has received none of the bytes that wait for it.
    case stall
    /// The client sends or receives bytes too slowly.
    case rate
    /// No bytes have moved.
    case progress
  }

  enum Action: Equatable {
    /// Send as much of the request to the upstream as possible without a wait.
    case upload
    /// Send as much of the response to the client as possible without a wait.
    case download
    /// Tell the upstream that the client has ended its side of the tunnel.
    case shutDownUpstream
    /// Wait for one of the events of `interest`.
    case wait
    /// Let other tasks run first.
    case yield
    /// Send the request again, on a new connection.
    case retry
    /// End the exchange. `mayReuse`: the upstream connection can be used for another exchange.
    case finish(mayReuse: Bool)
    /// Release the upstream connection. The next event is `download(.waiting(.client))`.
    case release(mayReuse: Bool)
    /// End the exchange, whose upstream connection was released before.
    case finishDelivery
    /// Close a tunnel that has been idle for too long. No bytes are lost.
    case closeQuietTunnel
    case fail(Failure)
  }

  enum Failure: Error, Equatable {
    case clientGone
    /// The client sends or receives no bytes.
    case clientTimeout
    case tooSlow
    case tooLong
    case responseTimeout
    case upstreamReset
  }

  /// The number of bytes after which an exchange lets other tasks run.
  static let share = 64 * 1024
  /// Each step counts as at least this number of bytes. So an exchange lets other tasks run after at most 128 steps,
  /// whatever their system calls return, and cannot block its worker.
  static let stepCost = 512

  private(set) var request: Request
  private(set) var phase: Phase
  /// The number of bytes counted since other tasks last ran.
  private var moved = 0

  init(_ request: Request) {
    self.request = request
    phase = .requesting(.open(.ready), isReused: false)
  }

  /// Creates the state of an exchange whose request a handler has sent. `allowsReuse`: false if the upstream connection
  /// must be closed after the response (`UpstreamResponse.requestAllowsReuse`).
  init(relayedRequestAllowsReuse allowsReuse: Bool) {
    request = .relayed
    phase = .requesting(allowsReuse ? .sent : .stopped, isReused: false)
  }

  mutating func step(_ event: Event) -> Action {
    switch (phase, event) {
    case (.requesting(.open(.ready), _), .connected(let isReused)):
      phase = .requesting(.open(.ready), isReused: isReused)
      return .upload

    // Upload.
    case (.requesting(.open, let isReused), .upload(let progress)):
      phase = .requesting(progress == .done ? .sent : .open(Flow(progress)), isReused: isReused)
      return .download
    case (.requesting(.open, let isReused), .upstreamRefused):
      phase = .requesting(.stopped, isReused: isReused)
      return .download
    case (.requesting(.open, _), .clientEnded):
      return .fail(.clientGone)
    case (.tunnel(.open, let down), .upload(let progress)):
      phase = .tunnel(progress == .done ? .closed : .open(Flow(progress)), down)
      return .download
    case (.tunnel(.open, let down), .upstreamRefused):
      phase = .tunnel(.closed, down)
      return .download
    case (.tunnel(.open, _), .clientEnded):
      return .shutDownUpstream

    // Download.
    case (.requesting(let upload, _), .began(let keepsAlive)):
      phase = .responding(.ready, mayReuse: keepsAlive && upload == .sent && request != .body(isLast: true))
      return .download
    case (.requesting(let upload, _), .switched) where asksForSwitch:
      phase = .tunnel(upload == .stopped ? .closed : .open(.ready), .ready)
      return .download
    case (.responding(_, let mayReuse), .download(.done)):
      return .finish(mayReuse: mayReuse)
    case (.responding(_, let mayReuse), .received):
      phase = .delivering
      return .release(mayReuse: mayReuse)
    case (.delivering, .download(.done)):
      return .finishDelivery
    case (.tunnel, .download(.done)):
      return .finish(mayReuse: false)
    case (.requesting, .download(.waiting)), (.requesting, .download(.paused)), (.delivering, .download):
      return endTurn()
    case (.responding(_, let mayReuse), .download(let progress)):
      phase = .responding(Flow(progress), mayReuse: mayReuse)
      return endTurn()
    case (.tunnel(let up, _), .download(let progress)):
      phase = .tunnel(up, Flow(progress))
      return endTurn()

    // Between two turns.
    case (_, .woke):
      moved += ExchangeState.stepCost
      return isUploading ? .upload : .download
    case (_, .yielded):
      moved = 0
      return isUploading ? .upload : .download

    // Ends.
    case (.tunnel, .expired(.progress)) where !isBlocked:
      return .closeQuietTunnel
    case (.requesting(.open(.waiting(.client)), _), .expired(.progress)):
      return .fail(.clientTimeout)
    case (_, .expired(let limit)):
      return .fail(ExchangeState.failure(of: limit))
    case (.requesting(_, isReused: true), .upstreamReset(hasInput: false)) where mayRepeat:
      phase = .requesting(.open(.ready), isReused: false)
      return .retry
    case (_, .upstreamReset):
      return .fail(.upstreamReset)
    case (_, .clientGone):
      return .fail(.clientGone)

    // The driver reports no other combination.
    case (.requesting, _), (.responding, _), (.delivering, _), (.tunnel, _):
      return .fail(.upstreamReset)
    }
  }

  private func endTurn() -> Action {
    if hasUsedShare { return .yield }
    // A new tunnel: the client may already have sent bytes after its request, which no event will report.
    if case .tunnel(.open(.ready), _) = phase { return .upload }
    return .wait
  }

  private static func failure(of limit: Limit) -> Failure {
    switch limit {
    case .request: .tooLong
    case .stall: .clientTimeout
    case .rate: .tooSlow
    case .progress: .responseTimeout
    }
  }

  /// Records that the upstream gets trailers of the request.
  mutating func sendsTrailers() {
    request = .body(isLast: true)
  }

  // MARK: Shares

  /// Counts the moved bytes of a step.
  mutating func chargeStep(bytes: Int) {
    moved += max(bytes, ExchangeState.stepCost)
  }

  var hasUsedShare: Bool { moved >= ExchangeState.share }

  // MARK: Properties of the phase

  /// True if bytes of the client may still be sent to the upstream.
  var isUploading: Bool {
    switch phase {
    case .requesting(.open, _), .tunnel(.open, _): true
    case .requesting, .responding, .delivering, .tunnel: false
    }
  }

  /// True if the upstream has the whole request and has not answered.
  var awaitsResponse: Bool {
    if case .requesting(.sent, _) = phase { true } else { false }
  }

  var hasResponse: Bool {
    if case .requesting = phase { false } else { true }
  }

  /// True if received bytes wait for one side to accept them.
  private var isBlocked: Bool { interest.upstream.contains(.writable) || isBlockedByClient }

  /// True if response bytes wait for the client to accept them.
  var isBlockedByClient: Bool {
    switch phase {
    case .responding(.waiting(.client), _), .delivering, .tunnel(_, .waiting(.client)): true
    case .requesting, .responding, .tunnel: false
    }
  }

  /// True if the exchange can continue only after the client has sent more of its request.
  var awaitsRequest: Bool {
    if case .requesting(.open(.waiting(.client)), _) = phase { true } else { false }
  }

  /// True if another protocol is in use, and no received bytes wait for one side to accept them.
  var isQuietTunnel: Bool { isTunnel && !isBlocked }

  /// True if the client has ended its side of a tunnel, so that only the upstream can still send.
  var clientLeftTunnel: Bool {
    if case .tunnel(.closed, _) = phase { true } else { false }
  }

  var isTunnel: Bool {
    if case .tunnel = phase { true } else { false }
  }

  /// True if another protocol is in use or was requested. The total time of the exchange is not limited then.
  var isSwitching: Bool {
    switch phase {
    case .requesting: asksForSwitch
    case .responding, .delivering: false
    case .tunnel: true
    }
  }

  /// True if a response that switches protocols is accepted.
  var asksForSwitch: Bool {
    if case .head(_, asksForSwitch: true) = request { true } else { false }
  }

  /// True if the head of the request is still at the front of the receive buffer.
  var isHeadInBuffer: Bool {
    guard case .head = request else { return false }
    return !hasResponse
  }

  /// True if the request may be sent again.
  var mayRepeat: Bool {
    guard case .head(isIdempotent: true, _) = request else { return false }
    return !hasResponse
  }

  /// The events of each socket after which bytes can move again.
  var interest: (client: Readiness, upstream: Readiness) {
    var (client, upstream): (Readiness, Readiness) = ([], [])
    switch phase {
    case .requesting(.open(.waiting(.upstream)), _), .tunnel(.open(.waiting(.upstream)), _): upstream.insert(.writable)
    case .requesting(.open, _), .tunnel(.open, _): client.insert(.readable)
    case .requesting, .responding, .delivering, .tunnel: break
    }
    if isBlockedByClient { client.insert(.writable) } else { upstream.insert(.readable) }
    return (client, upstream)
  }
}

extension ExchangeState.Flow {
  fileprivate init(_ progress: ExchangeState.Progress) {
    switch progress {
    case .waiting(let side): self = .waiting(side)
    case .paused, .done: self = .ready
    }
  }
}
