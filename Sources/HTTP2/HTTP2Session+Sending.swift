internal import CNghttp2
public import Reactor

extension HTTP2Session {
  /// The length of a frame head in bytes.
  private static let frameHead = 9
  /// The largest frame that nghttp2 creates: the payload that every client accepts (RFC 9113, section 4.2) and the
  /// frame head.
  private static let frameLimit = 16_384 + frameHead
  /// The largest payload of a DATA frame: with its head it fills one TLS record.
  static let dataLimit = 16_384 - frameHead

  /// True if `produce` would write bytes.
  public var wantsToSend: Bool { unsafe nghttp2_session_want_write(session) != 0 }

  /// True if the session ends once everything has been sent.
  public var isOver: Bool { unsafe !wantsToSend && nghttp2_session_want_read(session) == 0 }

  /// Appends pending bytes to `buffer` as long as it has room for a whole frame. Throws if the connection is to be
  /// ended.
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

  /// Begins a graceful shutdown (RFC 9113, section 6.8): announces that no new streams are wanted; streams in flight
  /// are still served.
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
