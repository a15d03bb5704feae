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

  /// The memory of responses up to which a stream gets a normal block; above it, the stream gets a block of exactly the
  /// needed size. Seven normal blocks hold as much as a connection sends in a turn.
  private static let commonBlocks = 7 * Buffer.capacity

  // MARK: Responding

  /// Sends a response head. `isFinal` is false for an interim response, `endsStream` true if no body follows.
  public func respond(_ stream: HTTP2Stream, _ head: FieldBlock, isFinal: Bool, endsStream: Bool) {
    guard !stream.isClosed, !head.isEmpty else { return }
    let result = unsafe withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: head.fields.count) { values in
      unsafe head.buffer.withReadable { (start: UnsafeRawPointer) -> Int32 in
        // Sound: nghttp2 copies names and values before it returns and does not write to them.
        let base = unsafe UnsafeMutablePointer(mutating: start.assumingMemoryBound(to: UInt8.self))
        for (index, field) in head.fields.enumerated() {
          unsafe values.initializeElement(
            at: index,
            to: nghttp2_nv(
              name: base + field.name.lowerBound, value: base + field.value.lowerBound, namelen: field.name.count,
              valuelen: field.value.count, flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue)))
        }
        if !isFinal {
          return unsafe nghttp2_submit_headers(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, nil, values.baseAddress, values.count, nil)
        }
        if endsStream {
          return unsafe nghttp2_submit_response(session, stream.id, values.baseAddress, values.count, nil)
        }
        var provider = unsafe HTTP2Session.provider
        return unsafe nghttp2_submit_response(session, stream.id, values.baseAddress, values.count, &provider)
      }
    }
    if result != 0 { return reset(stream, .internalError) }
    if isFinal {
      stream.state.isResponding = true
      stream.state.responseEnded = endsStream
    }
  }

  /// The number of response bytes that a stream may buffer: one whole frame, or less once the responses of all streams
  /// need `bufferedResponses`.
  private var responseLimit: Int {
    outbound < limits.bufferedResponses ? HTTP2Session.dataLimit : limits.crowdedResponse
  }

  /// Returns the number of response bytes that `write` accepts for `stream` now.
  public func room(_ stream: HTTP2Stream) -> Int {
    let kept = stream.outboundBytes
    return max(0, responseLimit - kept)
  }

  /// True if at most half of the allowed response bytes are buffered, so that it is worthwhile to read more from the
  /// upstream.
  public func isReadyForMore(_ stream: HTTP2Stream) -> Bool {
    stream.outboundBytes <= responseLimit / 2
  }

  /// Appends `count` bytes of the response, at most `room`, starting `offset` bytes after the read position of
  /// `source`.
  public func write(_ stream: HTTP2Stream, _ source: Buffer, offset: Int, count: Int) {
    guard count > 0, !stream.isClosed else { return }
    let buffer = stream.outbound
    let before = buffer.blockSize
    let isExact = outbound - before + Buffer.capacity > HTTP2Session.commonBlocks
    buffers.makeRoom(for: count, in: buffer, isExact: isExact)
    buffer.append(from: source, offset: offset, count: count)
    outbound += buffer.blockSize - before
    resume(stream)
  }

  private func resume(_ stream: HTTP2Stream) {
    guard stream.state.isDeferred else { return }
    stream.state.isDeferred = false
    _ = unsafe nghttp2_session_resume_data(session, stream.id)
  }

  /// Ends the response after the bytes written so far.
  public func finish(_ stream: HTTP2Stream) {
    guard !stream.state.responseEnded, !stream.isClosed else { return }
    stream.state.responseEnded = true
    resume(stream)
  }

  /// Copies at most `limit` bytes of the response for nghttp2. Returns their number; 0 at the end of the response;
  /// `nil` if more bytes will follow but none are available now.
  func fill(_ destination: UnsafeMutableRawPointer, _ limit: Int, of stream: HTTP2Stream) -> Int? {
    let count = min(limit, stream.outboundBytes)
    guard count > 0 else {
      stream.state.isDeferred = !stream.state.responseEnded
      return stream.state.isDeferred ? nil : 0
    }
    let buffer = stream.outbound
    unsafe buffer.withReadable { unsafe destination.copyMemory(from: $0, byteCount: count) }
    buffer.consume(count)
    sentBytes &+= count
    if buffer.isEmpty {
      outbound -= buffer.blockSize
      buffers.wipeAndGiveBack(buffer)
    }
    // A response that is complete and was passed to nghttp2 needs no news. If a part still waits for credit, report
    // that its client has made progress.
    if !stream.state.responseEnded || !buffer.isEmpty { addNews(stream) }
    return count
  }

  // MARK: Output

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
