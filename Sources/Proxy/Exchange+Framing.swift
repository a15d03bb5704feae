import HTTP1
import Reactor

/// The framing of a chunked body towards the upstream.
extension Exchange {
  /// The part of a chunked body that has arrived.
  private enum Arrived {
    /// The body is whole, with so many bytes.
    case whole(Int)
    /// Bytes of it, or a mistake, which the pump reports.
    case part
    case nothing
  }

  /// Returns the framing of a chunked body for the upstream: its length if the body is whole by now, since many servers of
  /// HTTP/1.0's time take no chunks, else chunks.
  ///
  /// Where the method gives content no meaning, waits until the body has a byte or ends: an HTTP/2 request whose empty body
  /// ends in a frame of its own is one without a body.
  func settledFraming(_ head: RequestHead) async throws(Failure) -> BodyFraming {
    let deadline = poller.deadline(after: worker.settings.configuration.bodyTimeout)
    while true {
      switch arrived() {
      case .whole(let count): return count > 0 ? .length(count) : .none
      case .part: return .chunked
      case .nothing:
        if head.method.definesContent || head.expectsContinue { return .chunked }
      }
      if await server.waiter.wait(server.socket, .readable, until: deadline) == .timedOut { throw .clientTimeout }
      switch server.receive() {
      case .moved(let count): uploaded += count
      case .wouldBlock: continue
      case .ended, .failed: throw .client
      }
    }
  }

  private func arrived() -> Arrived {
    fromClient.withSpan { bytes in
      var decoder = BodyDecoder(.chunked)
      var (position, count) = (0, 0)
      while position < bytes.count, !decoder.isFinished {
        let rest = bytes.extracting(position..<bytes.count)
        guard let piece = try? decoder.decode(rest) else { return .part }
        position += piece.consumed
        count += piece.data.count
      }
      if decoder.isFinished { return .whole(count) }
      return count > 0 ? .part : .nothing
    }
  }
}
