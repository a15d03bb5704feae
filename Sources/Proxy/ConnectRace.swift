import Reactor
import Time

/// Attempts to connect to the addresses of the upstream for one request, in the manner of RFC 8305: while an attempt
/// goes on, the next address is tried after 250 ms, and the first connection that is established is used.
///
/// The attempts have no tasks of their own: the race is the observer of their sockets and wakes the task of the client.
final class ConnectRace: SocketObserver {
  /// The time after which the next address is tried (RFC 8305, section 5).
  private static let attemptDelay: Milliseconds = 250
  /// The time between two attempts to connect to a Unix socket whose queue is full.
  private static let queuePause: Milliseconds = 5

  private struct Attempt {
    let target: UpstreamTarget
    let start: MonotonicTime
    /// `nil` for a Unix socket whose queue of connections is full: the kernel refuses the connection immediately instead
    /// of letting it wait.
    let socket: Socket?
  }

  private let pool: UpstreamPool
  private let poller: Poller
  private let client: ServerConnection
  private let deadline: Deadline
  /// The addresses that were not tried yet.
  private var candidates: ArraySlice<UpstreamTarget>
  private var attempts: [Attempt] = []
  private var nextStart: MonotonicTime = 0
  /// The time after which the next address is tried: so much that each address gets its part of the time.
  private let delay: Milliseconds

  init(_ pool: UpstreamPool, _ targets: [UpstreamTarget], for client: ServerConnection, until deadline: Deadline) {
    self.pool = pool
    poller = pool.poller
    self.client = client
    self.deadline = deadline
    candidates = targets[...]
    let part = deadline > pool.poller.now ? (deadline - pool.poller.now).count / max(1, targets.count) : 0
    delay = min(ConnectRace.attemptDelay, Milliseconds(part))
  }

  /// True if another address can still be tried.
  var hasMore: Bool { !candidates.isEmpty || !attempts.isEmpty }

  /// The time until which the handshake on an established connection may take, so that the other addresses keep their
  /// part of the time.
  var handshakeDeadline: Deadline {
    let others = candidates.count + attempts.count
    guard others > 0, deadline > poller.now else { return deadline }
    return poller.deadline(after: Milliseconds((deadline - poller.now).count / (others + 1)))
  }

  /// Returns the next connection that is established. May be called again if the connection turns out to be unusable.
  func next() async throws(UpstreamFailure) -> (socket: Socket, target: UpstreamTarget) {
    while true {
      if let established = takeEstablished() { return established }
      if poller.now >= deadline {
        for attempt in attempts { pool.noteConnectFailure(attempt.target) }
        throw .connectTimeout
      }
      if attempts.isEmpty || poller.now >= nextStart, let target = candidates.popFirst() {
        nextStart = poller.now + delay
        if let socket = begin(target) { return (socket, target) }
        continue
      }
      guard !attempts.isEmpty else { throw .unreachable }
      _ = await client.waiter.wait(client.socket, client.abandonment, until: nextWake)
      if client.isAbandoned { throw .clientGone(afterSending: false) }
    }
  }

  private var nextWake: Deadline {
    var time = deadline
    if !candidates.isEmpty { time = min(time, nextStart) }
    if attempts.contains(where: { $0.socket == nil }) {
      time = min(time, poller.deadline(after: ConnectRace.queuePause))
    }
    return time
  }

  /// Begins an attempt. Returns a socket if the connection is established at once.
  private func begin(_ target: UpstreamTarget) -> Socket? {
    do throws(IOError) {
      switch target.address.place {
      case .unixSocket(let path):
        let socket = try poller.connect(toUnixSocket: path)
        noteSilence(before: poller.now)
        return socket
      case .socket(let address):
        let socket = try poller.beginConnect(to: address)
        socket.observer = self
        attempts.append(Attempt(target: target, start: poller.now, socket: socket))
      }
    } catch {
      if error == .wouldBlock, case .unixSocket = target.address.place {
        attempts.append(Attempt(target: target, start: poller.now, socket: nil))
      } else {
        pool.noteConnectFailure(target)
      }
    }
    return nil
  }

  /// Ends the attempts that have failed, and returns the first that has succeeded.
  private func takeEstablished() -> (socket: Socket, target: UpstreamTarget)? {
    var index = 0
    while index < attempts.count {
      let attempt = attempts[index]
      switch outcome(of: attempt) {
      case .pending: index += 1
      case .failed:
        attempts.remove(at: index)
        attempt.socket?.close()
        pool.noteConnectFailure(attempt.target)
      case .established(let socket):
        attempts.remove(at: index)
        socket.observer = nil
        noteSilence(before: attempt.start)
        return (socket, attempt.target)
      }
    }
    return nil
  }

  /// Notes the failure of the attempts that were begun before this time: an address that is still silent when a later
  /// attempt succeeds would delay other requests too.
  private func noteSilence(before start: MonotonicTime) {
    for attempt in attempts where attempt.start < start { pool.noteConnectFailure(attempt.target) }
  }

  private enum Outcome {
    case pending
    case failed
    case established(Socket)
  }

  private func outcome(of attempt: Attempt) -> Outcome {
    if let socket = attempt.socket {
      guard socket.satisfies(.writable) else { return .pending }
      return socket.connectError() == nil ? .established(socket) : .failed
    }
    guard case .unixSocket(let path) = attempt.target.address.place else { return .failed }
    do throws(IOError) {
      return .established(try poller.connect(toUnixSocket: path))
    } catch {
      return error == .wouldBlock ? .pending : .failed
    }
  }

  /// Closes the connections that were not used.
  func close() {
    for attempt in attempts { attempt.socket?.close() }
    attempts = []
  }

  func socketIsReady(_ socket: Socket) { client.waiter.resume(.ready) }
  func workerIsDraining() {}
}
