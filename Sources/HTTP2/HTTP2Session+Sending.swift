internal import CNghttp2
public import Reactor

extension HTTP2Session {
  /// Bytes of a frame's head.
  private static let frameHead = 9
  /// The largest frame that nghttp2 makes: the payload that every client takes (RFC 9113, section 4.2), and its head.
  private static let frameLimit = 16_384 + frameHead
  /// The largest payload of a DATA frame: with its head it fills a TLS record.
  static let dataLimit = 16_384 - frameHead

  /// True if `produce` would give something.
  public var wantsToSend: Bool { unsafe nghttp2_session_want_write(session) != 0 }

  /// True if the session is over once everything was sent.
  public var isOver: Bool { unsafe !wantsToSend && nghttp2_session_want_read(session) == 0 }

  /// Appends what is to be sent to `buffer`, as long as it has room for a whole frame.
  public func produce(into buffer: Buffer) throws(HTTP2Failure) {
    budget.advance(to: now)
    while buffer.room >= HTTP2Session.frameLimit {
      var bytes: UnsafePointer<UInt8>?
      let count = unsafe nghttp2_session_mem_send(session, &bytes)
      guard count >= 0 else { throw .broken }
      guard count > 0, let start = unsafe bytes else { break }
      // Sound: the bytes stay until the next call.
      let part = unsafe Span(_unsafeElements: UnsafeBufferPointer(start: start, count: count))
      buffer.append(part, in: 0..<count)
    }
    if let flood {
      self.flood = nil
      end(.enhanceYourCalm)
      throw flood
    }
  }

  // MARK: The end

  /// The first step of a graceful end (RFC 9113, section 6.8): no new streams are wanted, those on their way are served.
  public func noticeShutdown() {
    _ = unsafe nghttp2_submit_shutdown_notice(session)
    _ = unsafe nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
  }

  /// The second step: streams that have not arrived by now are not served.
  public func shutDown() {
    let last = unsafe nghttp2_session_get_last_proc_stream_id(session)
    _ = unsafe nghttp2_submit_goaway(
      session, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, HTTP2ErrorCode.none.rawValue, nil, 0)
  }

  /// Ends the connection: a GOAWAY with this code is all that is still sent.
  public func end(_ code: HTTP2ErrorCode) {
    _ = unsafe nghttp2_session_terminate_session(session, code.rawValue)
  }
}
