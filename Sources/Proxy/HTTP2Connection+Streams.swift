import HTTP1
import HTTP2
import Reactor
import Telemetry

/// The streams of a connection. Each has a transport (`HTTP2StreamTransport`) and a task that serves it
/// (`HTTP2StreamServer`). Both stay with the object of the stream, which the session reuses for a later stream.
extension HTTP2Connection {
  /// The deadline for a client to accept more of a response.
  var progressDeadline: Deadline { poller.deadline(after: configuration.bodyTimeout) }

  /// The deadline for a client that already has its response to complete its request.
  var lingerDeadline: Deadline { poller.deadline(after: configuration.lingerTimeout) }

  /// Passes the changes of streams to their transports, and begins new streams.
  func dispatch(_ session: HTTP2Session) {
    session.takeChangedStreams { stream in
      // The index is that of the stream's transport, or -1 if the object of the stream is new.
      let transport = stream.callerIndex >= 0 ? transports[stream.callerIndex] : nil
      if let transport, transport.isInUse {
        transport.update()
        if stream.isClosed, transport.hasNoTask {
          end(transport, session)
          streamsWithoutTask -= 1
        }
      } else if stream.isClosed || stream.isRefused {
        if stream.isRefused { metrics.requestFinished(.refused, status: 0, nanoseconds: 0) }
        if let transport { remove(transport) }
      } else if streamTasks < session.limits.concurrentStreams {
        begin(stream, transport ?? addTransport(of: stream, session))
      } else {
        // The session limits the open streams. The streams with a task are limited here, because a task can still serve
        // a stream that the client has already closed.
        metrics.recordLimit(.concurrentStreams)
        if let transport { remove(transport) }
        session.reset(stream, .refusedStream)
      }
    }
    if streams == 0 {
      // The idle deadline is not set again after the final GOAWAY was queued: the connection then stays open only until
      // the remaining output is sent.
      if deadlines.idle == nil, !isShutDown { deadlines.idle = poller.deadline(after: configuration.idleTimeout) }
    } else {
      deadlines.idle = nil
      if life == .aboutToPark { life = .active }
    }
  }

  private func begin(_ stream: HTTP2Stream, _ transport: HTTP2StreamTransport) {
    streams += 1
    streamTasks += 1
    requests += 1
    metrics.http2StreamOpened()
    worker.checkMemory()
    transport.begin(refusal: stream.isTooLarge ? .request(.headTooLong(configuration.limits.head)) : nil)
  }

  private func addTransport(of stream: HTTP2Stream, _ session: HTTP2Session) -> HTTP2StreamTransport {
    let transport = HTTP2StreamTransport(stream, self, session)
    stream.callerIndex = transports.count
    transports.append(transport)
    return transport
  }

  /// Records that no task serves the stream of `transport` any more.
  func served(_ transport: HTTP2StreamTransport) {
    streamTasks -= 1
    // Without a session, there are no streams.
    guard let session else { return }
    if transport.stream.isClosed || life == .ended {
      end(transport, session)
    } else {
      streamsWithoutTask += 1
      // The stream may stay open as long as its client gives no credit. Only a few tasks wait for this.
      if streamsWithoutTask > HTTP2Session.spareLimit { transport.dismissTask() }
    }
    wake()
  }

  /// Ends the use of the transport, whose stream is finished. Keeps it if the session keeps the object of the stream.
  private func end(_ transport: HTTP2StreamTransport, _ session: HTTP2Session) {
    guard transport.isInUse else { return }
    transport.isInUse = false
    streams -= 1
    guard life != .ended, session.recycle(transport.stream) else { return remove(transport) }
  }

  private func remove(_ transport: HTTP2StreamTransport) {
    transport.dismissTask()
    let position = transport.stream.callerIndex
    guard position >= 0, let last = transports.popLast() else { return }
    transport.stream.callerIndex = -1
    if last !== transport {
      transports[position] = last
      last.stream.callerIndex = position
    }
  }

  /// Removes the streams that no task serves, because the connection has ended. `served` removes the others when their
  /// tasks have finished.
  func removeUnserved() {
    guard let session else { return }
    for transport in transports where transport.hasNoTask { end(transport, session) }
  }

  /// Releases the spare objects, which refer to this connection, and ends their tasks.
  func dismissSpares() {
    session?.dropSpareStreams()
    for transport in transports where !transport.isInUse { remove(transport) }
  }
}
