import HTTP1
import HTTP2
import Reactor
import Telemetry

/// The streams of a connection. Each has a transport (`HTTP2StreamTransport`) and a task that serves it. Transports and
/// tasks are kept for later streams.
extension HTTP2Connection {
  /// The maximum number of spare tasks, and of spare transports. Most connections have no more concurrent streams.
  private static let spareLimit = 16

  /// The deadline for a client to accept more of a response.
  var progressDeadline: Deadline { poller.deadline(after: configuration.bodyTimeout) }

  /// The deadline for a client that already has its response to complete its request.
  var lingerDeadline: Deadline { poller.deadline(after: configuration.lingerTimeout) }

  /// Passes the changes of streams to their transports, and begins new streams.
  func dispatch(_ session: HTTP2Session) {
    session.takeChangedStreams { stream in
      // The index is that of the stream's transport, or -1 if the stream has none.
      if stream.callerIndex >= 0 {
        let transport = transports[stream.callerIndex]
        transport.update()
        if stream.isClosed, transport.socket == nil {
          remove(transport)
          streamsWithoutTask -= 1
        }
      } else if stream.isRefused {
        worker.metrics.requestFinished(.refused, status: 0, nanoseconds: 0)
      } else if !stream.isClosed {
        begin(stream, session)
      }
    }
    if transports.isEmpty {
      // The idle deadline is not set again after the final GOAWAY was queued: the connection then stays open only until
      // the remaining output is sent.
      if deadlines.idle == nil, !isShutDown { deadlines.idle = poller.deadline(after: configuration.idleTimeout) }
    } else {
      deadlines.idle = nil
      if life == .aboutToPark { life = .active }
    }
  }

  private func begin(_ stream: HTTP2Stream, _ session: HTTP2Session) {
    // The session limits the open streams. The streams with a task are limited here, because a task can still serve a
    // stream that the client has already closed.
    guard streamTasks < session.limits.concurrentStreams else {
      worker.metrics.recordLimit(.concurrentStreams)
      return session.reset(stream, .refusedStream)
    }
    let transport: HTTP2StreamTransport
    if let spare = spareTransports.popLast() {
      transport = spare
      transport.begin(stream)
    } else {
      transport = HTTP2StreamTransport(stream, self, session)
    }
    stream.callerIndex = transports.count
    transports.append(transport)
    streamTasks += 1
    requests += 1
    worker.metrics.http2StreamOpened()
    worker.memoryWatch.checkMemory()
    let refusal: ProxyFailure? =
      stream.isTooLarge ? .request(.headTooLong(configuration.limits.head)) : nil
    if let server = spareServers.popLast() {
      server.begin(transport, refusal)
      server.wake()
    } else {
      let server = HTTP2StreamServer(self)
      server.begin(transport, refusal)
      poller.start(server)
    }
  }

  /// Records that no task serves the stream of `transport` any more.
  func served(_ transport: HTTP2StreamTransport) {
    streamTasks -= 1
    if transport.stream.isClosed || life == .ended {
      remove(transport)
    } else {
      streamsWithoutTask += 1
    }
    wake()
  }

  /// Removes the transport of a finished stream.
  private func remove(_ transport: HTTP2StreamTransport) {
    let position = transport.stream.callerIndex
    guard position >= 0, let last = transports.popLast() else { return }
    transport.stream.callerIndex = -1
    if last !== transport {
      transports[position] = last
      last.stream.callerIndex = position
    }
    guard life != .ended, let session, spareTransports.count < HTTP2Connection.spareLimit else { return }
    session.recycle(transport.stream)
    spareTransports.append(transport)
  }

  /// Removes the streams that no task serves, because the connection has ended. `served` removes the others when their
  /// tasks have finished.
  func removeUnserved() {
    transports.removeAll { $0.socket == nil }
    for (index, transport) in transports.enumerated() { transport.stream.callerIndex = index }
  }

  /// Keeps the task, which has served its stream, so that it can serve another stream. Returns false if the task must
  /// end.
  func keepSpare(_ server: HTTP2StreamServer) -> Bool {
    guard life != .ended, life != .parked, spareServers.count < HTTP2Connection.spareLimit else { return false }
    spareServers.append(server)
    return true
  }

  /// Ends the spare tasks and releases the spare objects, which refer to this connection.
  func dismissSpares() {
    while let server = spareServers.popLast() { server.wake() }
    spareTransports = []
  }
}
