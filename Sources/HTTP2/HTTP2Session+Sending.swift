internal import CNghttp2
public import Reactor

extension HTTP2Session {
  /// The length of a frame header in bytes.
  private static let frameHeaderLength = 9
  /// The size of the largest frame that nghttp2 creates, in bytes: the frame header, and the largest payload that every
  /// client accepts (RFC 9113, section 4.2).
  private static let frameLimit = 16_384 + frameHeaderLength
  /// The largest payload of a DATA frame, in bytes. Together with the frame header it fills one TLS record.
  static let dataLimit = 16_384 - frameHeaderLength

  /// True if `produce` would write bytes.
  public var wantsToSend: Bool { unsafe nghttp2_session_want_write(session) != 0 }

  /// True if nothing remains to be sent or received. The connection can then be closed.
  public var isOver: Bool { unsafe !wantsToSend && nghttp2_session_want_read(session) == 0 }

  /// Appends pending frames to `buffer` while it has room for the largest frame. Throws if the connection must be ended
  /// because nghttp2 failed or the sent resets exceed the budget.
  public func produce(into buffer: Buffer) throws(HTTP2Failure) {
    budget.advance(to: now)
    while buffer.room >= HTTP2Session.frameLimit {
      var bytes: UnsafePointer<UInt8>?
      let count = unsafe nghttp2_session_mem_send(session, &bytes)
      guard count >= 0 else { throw .broken }
      guard count > 0, let start = unsafe bytes else { break }
      // Sound: the bytes stay valid until the next call.
      let part = unsafe Span(_unsafeElements: UnsafeBufferPointer(start: start, count: count))
      buffer.append(part, in: 0..<count)
    }
    if let flood {
      self.flood = nil
      end(.enhanceYourCalm)
      throw flood
    }
  }

  // MARK: Shutdown

  /// Begins a graceful shutdown (RFC 9113, section 6.8): sends a GOAWAY that asks the client not to begin new streams,
  /// and a PING. Streams that the client begins before it receives the GOAWAY are still served. The client's reply to
  /// the PING shows that it has received the GOAWAY (`isNoticeAcknowledged`).
  public func noticeShutdown() {
    _ = unsafe nghttp2_submit_shutdown_notice(session)
    _ = unsafe nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
  }

  /// Continues a graceful shutdown: sends a GOAWAY with the number of the last stream that arrived. Later streams are
  /// not served.
  public func shutDown() {
    let last = unsafe nghttp2_session_get_last_proc_stream_id(session)
    _ = unsafe nghttp2_submit_goaway(
      session, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, HTTP2ErrorCode.none.rawValue, nil, 0)
  }

  /// Ends the connection. After this call only a GOAWAY with `code` is sent.
  public func end(_ code: HTTP2ErrorCode) {
    _ = unsafe nghttp2_session_terminate_session(session, code.rawValue)
  }
}
