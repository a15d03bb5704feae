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

  /// A number of bytes. A response that does not fit into a small block gets a normal block (`Buffer.capacity`), unless
  /// the memory of all buffered responses would then exceed this number. In that case, the response gets a block of
  /// exactly the needed size. Seven normal blocks hold as much as a connection sends in a turn.
  private static let normalBlockMemoryLimit = 7 * Buffer.capacity

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

  /// The number of response bytes that each stream may buffer now: the payload of a whole frame, or only
  /// `reducedResponseBuffer` if the responses of all streams together occupy at least `bufferedResponses`.
  private var responseLimit: Int {
    responseMemory < limits.bufferedResponses ? HTTP2Session.dataLimit : limits.reducedResponseBuffer
  }

  /// Returns the number of response bytes that `write` accepts for `stream` now.
  public func room(for stream: HTTP2Stream) -> Int {
    max(0, responseLimit - stream.outboundBytes)
  }

  /// Returns true if the stream buffers at most half of the allowed response bytes. Only then is it worthwhile to read
  /// more from the upstream.
  public func isReadyForMore(_ stream: HTTP2Stream) -> Bool {
    stream.outboundBytes <= responseLimit / 2
  }

  /// Buffers `count` bytes of the response, at most `room(for:)`. They begin `offset` bytes after the read position of
  /// `source`. Returns false if there is no memory for them; the caller must then reset the stream.
  public func write(_ stream: HTTP2Stream, _ source: Buffer, offset: Int, count: Int) -> Bool {
    guard count > 0, !stream.isClosed else { return true }
    let buffer = stream.outbound
    let before = buffer.blockSize
    let isExact = responseMemory - before + Buffer.capacity > HTTP2Session.normalBlockMemoryLimit
    guard buffers.makeRoom(for: count, in: buffer, isExact: isExact) else { return false }
    buffer.append(from: source, offset: offset, count: count)
    responseMemory += buffer.blockSize - before
    resume(stream)
    return true
  }

  /// Makes nghttp2 ask for response bytes of the stream again if there were none when it last asked.
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

  /// Ends the response after the bytes written so far, with trailers.
  ///
  /// - Parameter trailers: The fields as lines of HTTP/1.1, each `name: value` and a line end.
  public func finish(_ stream: HTTP2Stream, trailers: [UInt8]) {
    guard !stream.state.responseEnded, !stream.isClosed else { return }
    stream.responseTrailers = trailers
    finish(stream)
  }

  /// Passes the trailers of the response to nghttp2, which sends them after the last DATA frame. The callback that reads
  /// the body calls this at the end of the body.
  func submitTrailers(of stream: HTTP2Stream) {
    let lines = stream.responseTrailers
    stream.responseTrailers = []
    let fields = HTTP2Session.trailerFields(lines)
    let result = unsafe withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: fields.count) { values in
      unsafe lines.withUnsafeBufferPointer { bytes -> Int32 in
        guard let start = bytes.baseAddress else { return 0 }
        // Sound: nghttp2 copies names and values before it returns and does not write to them.
        let base = unsafe UnsafeMutablePointer(mutating: start)
        for (index, field) in fields.enumerated() {
          unsafe values.initializeElement(
            at: index,
            to: nghttp2_nv(
              name: base + field.name.lowerBound, value: base + field.value.lowerBound, namelen: field.name.count,
              valuelen: field.value.count, flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue)))
        }
        return unsafe nghttp2_submit_trailer(session, stream.id, values.baseAddress, values.count)
      }
    }
    if result != 0 { reset(stream, .internalError) }
  }

  /// Returns the positions of the names and values in lines of the form `name: value` with line ends.
  private static func trailerFields(_ lines: [UInt8]) -> [(name: Range<Int>, value: Range<Int>)] {
    var fields: [(name: Range<Int>, value: Range<Int>)] = []
    var start = 0
    while let end = lines[start...].firstIndex(of: 0x0d), let colon = lines[start..<end].firstIndex(of: 0x3a) {
      fields.append((start..<colon, min(colon + 2, end)..<end))
      start = min(end + 2, lines.count)
    }
    return fields
  }

  /// Copies at most `limit` bytes of the response to `destination`. Returns the number of copied bytes. It is 0 at the
  /// end of the response. Returns `nil` if more bytes will follow but none are available now.
  func copyResponse(to destination: UnsafeMutableRawPointer, limit: Int, of stream: HTTP2Stream) -> Int? {
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
      responseMemory -= buffer.blockSize
      buffers.wipeAndGiveBack(buffer)
    }
    // The recorded change makes the caller write more of the response, and shows the caller that the client makes
    // progress. Neither is necessary once nghttp2 has taken the last byte of the complete response.
    if !stream.state.responseEnded || !buffer.isEmpty { recordChange(of: stream) }
    return count
  }

  // MARK: Output

  /// True if `produce` would write bytes.
  public var wantsToSend: Bool { unsafe nghttp2_session_want_write(session) != 0 }

  /// True if nothing remains to be sent or received. The connection can then be closed.
  public var hasEnded: Bool { unsafe nghttp2_session_want_read(session) == 0 && !wantsToSend }

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
      endConnection(.enhanceYourCalm)
      throw flood
    }
  }

  // MARK: Shutdown

  /// Begins a graceful shutdown (RFC 9113, section 6.8): sends a GOAWAY that asks the client not to begin new streams,
  /// and a PING. Streams that the client begins before it receives the GOAWAY are still served. The client's reply to
  /// the PING shows that it has received the GOAWAY (`isNoticeAcknowledged`).
  public func sendShutdownNotice() {
    _ = unsafe nghttp2_submit_shutdown_notice(session)
    _ = unsafe nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
  }

  /// Continues a graceful shutdown: sends a GOAWAY with the number of the last stream that arrived. Later streams are
  /// not served.
  public func shutDown() {
    let last = unsafe nghttp2_session_get_last_proc_stream_id(session)
    _ = unsafe nghttp2_submit_goaway(
      session, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, HTTP2ErrorCode.noError.rawValue, nil, 0)
  }

  /// Ends the connection. After this call only a GOAWAY with `code` is sent.
  public func endConnection(_ code: HTTP2ErrorCode) {
    _ = unsafe nghttp2_session_terminate_session(session, code.rawValue)
  }
}
