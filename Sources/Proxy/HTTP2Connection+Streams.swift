import HTTP1
import HTTP2
import Reactor
import Telemetry

/// The streams of a connection. Each has a leg (its `HTTP2StreamTransport`) and a task that serves it. Both are kept
/// for later streams.
extension HTTP2Connection {
  /// The maximum number of spare tasks: as many as most connections have concurrent streams.
  private static let spareLimit = 16

  /// The deadline for a client to accept more of a response.
  var progressDeadline: Deadline { poller.deadline(after: configuration.bodyTimeout) }

  /// The deadline for a client that already has its response to complete its request.
  var lingerDeadline: Deadline { poller.deadline(after: configuration.lingerTimeout) }

  /// Passes the changes of streams to their legs, and begins new streams.
  func dispatch(_ session: HTTP2Session) {
    session.takeChangedStreams { stream in
      if stream.callerIndex >= 0 {
        let leg = legs[stream.callerIndex]
        leg.update()
        if stream.isClosed, leg.socket == nil {
          remove(leg)
          lingering -= 1
        }
      } else if stream.isRefused {
        worker.metrics.requestFinished(.refused, status: 0, nanoseconds: 0)
      } else if !stream.isClosed {
        begin(stream, session)
      }
    }
    if legs.isEmpty {
      // Not set again after the shutdown: then the connection stays open only until the remaining output is sent.
      if deadlines.idle == nil, !isShutDown { deadlines.idle = poller.deadline(after: configuration.idleTimeout) }
    } else {
      deadlines.idle = nil
      if life == .pausing { life = .active }
    }
  }

  private func begin(_ stream: HTTP2Stream, _ session: HTTP2Session) {
    // The client may already have closed a stream whose task still runs, so tasks are counted as well as streams.
    guard tasks < session.limits.concurrentStreams else {
      worker.metrics.recordLimit(.concurrentStreams)
      return session.reset(stream, .refusedStream)
    }
    let leg: HTTP2StreamTransport
    if let spare = spareLegs.popLast() {
      leg = spare
      leg.begin(stream)
    } else {
      leg = HTTP2StreamTransport(stream, self, session)
    }
    stream.callerIndex = legs.count
    legs.append(leg)
    tasks += 1
    requests += 1
    worker.metrics.http2StreamOpened()
    worker.memoryWatch.look()
    let refusal: ProxyFailure? =
      stream.isTooLarge ? .request(.headTooLong(configuration.limits.head)) : nil
    if let server = spareServers.popLast() {
      server.begin(leg, refusal)
      server.wake()
    } else {
      let server = HTTP2StreamServer(self)
      server.begin(leg, refusal)
      poller.start(server)
    }
  }

  /// Records that the task of the stream has ended.
  func served(_ leg: HTTP2StreamTransport) {
    tasks -= 1
    if leg.stream.isClosed || life == .ended {
      remove(leg)
    } else {
      lingering += 1
    }
    wake()
  }

  /// Removes the leg of a finished stream.
  private func remove(_ leg: HTTP2StreamTransport) {
    let position = leg.stream.callerIndex
    guard position >= 0, let last = legs.popLast() else { return }
    leg.stream.callerIndex = -1
    if last !== leg {
      legs[position] = last
      last.stream.callerIndex = position
    }
    guard life != .ended, let session, spareLegs.count < HTTP2Connection.spareLimit else { return }
    session.recycle(leg.stream)
    spareLegs.append(leg)
  }

  /// Removes the streams without a task, because the connection has ended; streams with a task end by themselves.
  func removeUnserved() {
    legs.removeAll { $0.socket == nil }
    for (index, leg) in legs.enumerated() { leg.stream.callerIndex = index }
  }

  /// Keeps a task that has served its stream for another one. Returns false if the task must end.
  func keeps(_ server: HTTP2StreamServer) -> Bool {
    guard life != .ended, life != .parked, spareServers.count < HTTP2Connection.spareLimit else { return false }
    spareServers.append(server)
    return true
  }

  /// Ends the spare tasks and releases the spare objects, which refer to this connection.
  func dismissSpares() {
    while let server = spareServers.popLast() { server.wake() }
    spareLegs = []
  }
}
