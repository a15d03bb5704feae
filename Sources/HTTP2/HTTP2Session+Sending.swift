internal import CNghttp2
public import Reactor

extension HTTP2Session {
  /// The length of a frame header in bytes.
  private static let frameHeaderLength = 9
  /// The size of the largest frame that nghttp2 creates: the payload that every client accepts (RFC 9113, section 4.2)
  /// and the frame header.
  private static let frameLimit = 16_384 + frameHeaderLength
  /// The largest payload of a DATA frame: with its frame header it fills one TLS record.
  static let dataLimit = 16_384 - frameHeaderLength

  /// True if `produce` would write bytes.
  public var wantsToSend: Bool { unsafe nghttp2_session_want_write(session) != 0 }

  /// True if nothing remains to be sent or received, so that the connection can be closed.
  public var isOver: Bool { unsafe !wantsToSend && nghttp2_session_want_read(session) == 0 }

  /// Appends pending bytes to `buffer` as long as it has room for a whole frame. Throws if the connection must be
  /// ended: nghttp2 failed, or the sent resets exceed the budget.
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

  // MARK: The end

  /// Begins a graceful shutdown (RFC 9113, section 6.8): announces that no new streams are wanted. Streams that the
  /// client has already opened are still served. The reply to the PING that follows shows that the client knows
  /// (`isNoticeAcknowledged`).
  public func noticeShutdown() {
    _ = unsafe nghttp2_submit_shutdown_notice(session)
    _ = unsafe nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
  }

  /// Continues a graceful shutdown: streams that have not arrived yet are not served.
  public func shutDown() {
    let last = unsafe nghttp2_session_get_last_proc_stream_id(session)
    _ = unsafe nghttp2_submit_goaway(
      session, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, HTTP2ErrorCode.none.rawValue, nil, 0)
  }

  /// Ends the connection: only a GOAWAY with this code is still sent.
  public func end(_ code: HTTP2ErrorCode) {
    _ = unsafe nghttp2_session_terminate_session(session, code.rawValue)
  }
}
