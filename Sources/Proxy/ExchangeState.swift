import Reactor

/// The state of an exchange, and all of its transitions.
///
/// Theory of operation. `Exchange` owns sockets and buffers and moves bytes; this value decides what it does next. The
/// driver performs an action, reports the result as an event, and `step` returns the next action. The value gets counts and
/// ends, never bytes, and holds no references.
///
/// An exchange works in turns: the upload moves what it can, then the download, and when neither can go on, one wait covers
/// both sockets. `finish`, `closeQuietTunnel` and `fail` are the last actions; no event follows them.
///
///                upload(.done): sent
///                upstreamRefused: stopped
///     requesting(open) ----------------------> requesting(sent | stopped)
///      |     |  ^                                |        |
///      |     |  '---- upstreamReset: retry ------'        | began
///      |     '-------------- began: stopped --------------|
///      | switched                                         v
///      v                                              responding
///     tunnel(open)                                        |
///      |  upload(.done), upstreamRefused                  | download(.done)
///      v                                                  v
///     tunnel(closed) ------- download(.done) ----------> finish
///
/// - A response that begins while the request is still being sent stops the upload, and its connection is not used again.
/// - A send that fails only stops the upload: the upstream may have answered before it closed.
/// - A request without a body whose method is idempotent is sent again if a reused connection was closed before any byte of
///   a response: the upstream closed it when the request was on its way (RFC 9112, section 9.3.1).
/// - A failure leaves the phase as it is: the error response depends on it.
struct ExchangeState: Equatable {
  /// The properties of the request that decide transitions.
  enum Request: Equatable {
    /// Has no body. The head stays at the front of the receive buffer until a response begins.
    case head(isIdempotent: Bool, asksForSwitch: Bool)
    /// Has a body. `asksForClose`: the upstream may leave it unread, and was asked to close the connection.
    case body(asksForClose: Bool)
    /// Was sent by a handler, which has consumed it.
    case relayed
  }

  enum Phase: Equatable {
    /// No final response has begun. `isReused`: the upstream's connection has carried another exchange before.
    case requesting(Upload, isReused: Bool)
    /// The head of the response was written, and the request is over. `mayReuse`: the upstream's connection can carry another
    /// exchange after the body.
    case responding(Flow, mayReuse: Bool)
    /// Bytes of another protocol move both ways until the upstream closes.
    case tunnel(Tunnel, Flow)
  }

  /// The request on its way to the upstream.
  enum Upload: Equatable {
    case open(Flow)
    case sent
    /// The upstream takes no more of it, or has answered without it.
    case stopped
  }

  /// The client's direction of a tunnel.
  enum Tunnel: Equatable {
    case open(Flow)
    /// The client has ended its side, or the upstream takes no more.
    case closed
  }

  /// One direction of bytes.
  enum Flow: Equatable {
    /// Can go on as far as is known.
    case ready
    /// Cannot go on until this side gives or takes bytes.
    case waiting(Side)
  }

  enum Side: Equatable {
    case client
    case upstream
  }

  enum Event: Equatable {
    /// A connection to the upstream is there.
    case connected(isReused: Bool)
    case upload(Progress)
    /// The client has ended its side before the end of the upload.
    case clientEnded
    /// The upstream takes no more bytes.
    case upstreamRefused
    /// The head of the final response was written for the client. `keepsAlive`: the upstream keeps its connection open.
    case began(upstreamKeepsAlive: Bool)
    /// The same for a response that switches protocols.
    case switched
    case download(Progress)
    /// The upstream's connection ended too early. `hasInput`: it had sent a part of a head or body.
    case upstreamReset(hasInput: Bool)
    /// The wait ended because a socket is ready.
    case woke
    /// The wait ended because of a limit in time.
    case expired(Limit)
    /// Others have run.
    case yielded
    /// The client can take no more, or has abandoned its request.
    case clientGone
  }

  /// The result of an attempt to move bytes in one direction.
  enum Progress: Equatable {
    case waiting(Side)
    /// The share of this turn is used up.
    case paused
    case done
  }

  enum Limit: Equatable {
    /// The request as a whole took too long.
    case request
    /// The client has taken nothing of the bytes that wait for it.
    case stall
    /// The client gives or takes bytes too slowly.
    case rate
    /// Nothing has moved.
    case progress
  }

  enum Action: Equatable {
    /// Move the request up, as far as possible without a wait.
    case upload
    /// Move the response down, as far as possible without a wait.
    case download
    /// Tell the upstream that the client has ended its side of the tunnel.
    case shutDownUpstream
    /// Wait for one of `interest`.
    case wait
    /// Let others run first.
    case yield
    /// Send the request again, over a new connection.
    case retry
    case finish(mayReuse: Bool)
    /// The tunnel has been idle for too long; nothing is cut off by its end.
    case closeQuietTunnel
    case fail(Failure)
  }

  enum Failure: Error, Equatable {
    case clientGone
    /// The client sends or takes nothing.
    case clientTimeout
    case tooSlow
    case tooLong
    case responseTimeout
    case upstreamReset
  }

  /// Bytes after which an exchange lets others run.
  static let share = 64 * 1024
  /// Bytes that a step of a turn counts for at least. A turn ends after 128 steps, whatever their system calls return, so no
  /// exchange can keep its worker.
  static let stepCost = 512

  let request: Request
  private(set) var phase: Phase
  /// Bytes moved since others have run.
  private var moved = 0

  init(_ request: Request) {
    self.request = request
    phase = .requesting(.open(.ready), isReused: false)
  }

  /// The state of an exchange whose request a handler has sent. `isWhole`: the upstream has all of it.
  init(relayedRequestIsWhole isWhole: Bool) {
    request = .relayed
    phase = .requesting(isWhole ? .sent : .stopped, isReused: false)
  }

  mutating func step(_ event: Event) -> Action {
    switch (phase, event) {
    case (.requesting(.open(.ready), _), .connected(let isReused)):
      phase = .requesting(.open(.ready), isReused: isReused)
      return .upload

    // Up.
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

    // Down.
    case (.requesting(let upload, _), .began(let keepsAlive)):
      phase = .responding(.ready, mayReuse: keepsAlive && upload == .sent && request != .body(asksForClose: true))
      return .download
    case (.requesting(let upload, _), .switched) where asksForSwitch:
      phase = .tunnel(upload == .stopped ? .closed : .open(.ready), .ready)
      return .download
    case (.responding(_, let mayReuse), .download(.done)):
      return .finish(mayReuse: mayReuse)
    case (.tunnel, .download(.done)):
      return .finish(mayReuse: false)
    case (.requesting, .download(.waiting)), (.requesting, .download(.paused)):
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

    // The driver reports none of these.
    case (.requesting, _), (.responding, _), (.tunnel, _):
      return .fail(.upstreamReset)
    }
  }

  private func endTurn() -> Action {
    if hasUsedShare { return .yield }
    // A new tunnel: the client may have sent bytes behind its request, for which no event will come.
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

  // MARK: Shares

  /// Counts bytes that moved.
  mutating func count(_ bytes: Int) {
    moved += max(bytes, ExchangeState.stepCost)
  }

  var hasUsedShare: Bool { moved >= ExchangeState.share }

  // MARK: What follows from the state

  /// True if bytes of the client can still go up.
  var isUploading: Bool {
    switch phase {
    case .requesting(.open, _), .tunnel(.open, _): true
    case .requesting, .responding, .tunnel: false
    }
  }

  var hasResponse: Bool {
    if case .requesting = phase { false } else { true }
  }

  /// True if bytes that have arrived wait for one side to take them.
  private var isBlocked: Bool { interest.upstream.contains(.writable) || isBlockedDown }

  /// True if bytes go down to a client that does not take them.
  var isBlockedDown: Bool {
    switch phase {
    case .responding(.waiting(.client), _), .tunnel(_, .waiting(.client)): true
    case .requesting, .responding, .tunnel: false
    }
  }

  /// True if only the client can go on: it sends its request.
  var awaitsRequest: Bool {
    if case .requesting(.open(.waiting(.client)), _) = phase { true } else { false }
  }

  var isTunnel: Bool {
    if case .tunnel = phase { true } else { false }
  }

  /// True if another protocol is spoken or was asked for: the time that it takes is not limited.
  var isSwitching: Bool {
    switch phase {
    case .requesting: asksForSwitch
    case .responding: false
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

  /// The events of the two sockets with which bytes can move again.
  var interest: (client: Readiness, upstream: Readiness) {
    var (client, upstream): (Readiness, Readiness) = ([], [])
    switch phase {
    case .requesting(.open(.waiting(.upstream)), _), .tunnel(.open(.waiting(.upstream)), _): upstream.insert(.writable)
    case .requesting(.open, _), .tunnel(.open, _): client.insert(.readable)
    case .requesting, .responding, .tunnel: break
    }
    if isBlockedDown { client.insert(.writable) } else { upstream.insert(.readable) }
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
