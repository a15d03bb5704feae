internal import CNghttp2
import Reactor

/// The callbacks of nghttp2. Each callback gets the `HTTP2Session` as `user_data` and records the event there.
///
/// The unretained reference in `user_data` is sound: the deinitializer of `HTTP2Session` deletes nghttp2's session
/// object, and nghttp2 runs callbacks only inside calls of its functions.
extension HTTP2Session {
  /// Calls `body` with the session to which `data` points. Does not count references, because this function runs many
  /// times for each request.
  @inline(__always)
  private static func withSession(_ data: UnsafeMutableRawPointer?, _ body: (HTTP2Session) -> Void) -> Int32 {
    if let data = unsafe data { unsafe Unmanaged<HTTP2Session>.fromOpaque(data)._withUnsafeGuaranteedRef(body) }
    return 0
  }

  /// Creates nghttp2's session object; `nil` if out of memory.
  static func makeSession(_ data: UnsafeMutableRawPointer) -> OpaquePointer? {
    var callbacks: OpaquePointer?
    var options: OpaquePointer?
    guard unsafe nghttp2_session_callbacks_new(&callbacks) == 0 else { return nil }
    defer { unsafe nghttp2_session_callbacks_del(callbacks) }
    guard unsafe nghttp2_option_new(&options) == 0 else { return nil }
    defer { unsafe nghttp2_option_del(options) }
    // The gateway itself decides when to send WINDOW_UPDATE frames, to bound its memory.
    unsafe nghttp2_option_set_no_auto_window_update(options, 1)
    // nghttp2 needs closed streams only for the priority tree, which is not used here.
    unsafe nghttp2_option_set_no_closed_streams(options, 1)
    unsafe setReceiving(callbacks)
    // The maximum payload of a DATA frame: the smallest of both windows, the frame size that the client accepts, and
    // `dataLimit`.
    unsafe nghttp2_session_callbacks_set_data_source_read_length_callback(callbacks) {
      _, _, _, connectionWindow, streamWindow, frameLimit, _ in
      min(HTTP2Session.dataLimit, Int(connectionWindow), Int(streamWindow), Int(frameLimit))
    }
    unsafe nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, data in
      unsafe HTTP2Session.withSession(data) { session in
        if let frame = unsafe frame { unsafe session.frameSent(frame.pointee.hd) }
      }
    }
    unsafe nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, id, _, data in
      unsafe HTTP2Session.withSession(data) { session in session.closeStream(id) }
    }
    var session: OpaquePointer?
    guard unsafe nghttp2_session_server_new2(&session, callbacks, data, options) == 0 else { return nil }
    return unsafe session
  }

  private static func setReceiving(_ callbacks: OpaquePointer?) {
    unsafe nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, data in
      unsafe HTTP2Session.withSession(data) { session in
        guard let frame = unsafe frame else { return }
        session.fields.clear()
        if unsafe frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST {
          unsafe session.beginStream(frame.pointee.hd.stream_id)
        }
      }
    }
    unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks) {
      _, _, name, nameLength, value, valueLength, _, data in
      unsafe HTTP2Session.appendField(name, nameLength, value, valueLength, data)
    }
    // Without this callback nghttp2 would drop an invalid field and continue. With it, `RequestTranslation` sees the
    // field and refuses the request.
    unsafe nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks) {
      _, _, name, nameLength, value, valueLength, _, data in
      unsafe HTTP2Session.appendField(name, nameLength, value, valueLength, data)
    }
    unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, data in
      unsafe HTTP2Session.withSession(data) { session in
        if let frame = unsafe frame { unsafe session.frameReceived(frame) }
      }
    }
    unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, id, bytes, count, data in
      unsafe HTTP2Session.withSession(data) { session in
        let part = unsafe UnsafeBufferPointer(start: bytes, count: count)
        unsafe session.dataReceived(id, Span(_unsafeElements: part))
      }
    }
  }

  // MARK: Receiving

  private static func appendField(
    _ name: UnsafePointer<UInt8>?, _ nameLength: Int, _ value: UnsafePointer<UInt8>?, _ valueLength: Int,
    _ data: UnsafeMutableRawPointer?
  ) -> Int32 {
    guard let data = unsafe data else { return 0 }
    let name = unsafe UnsafeBufferPointer(start: name, count: nameLength)
    let value = unsafe UnsafeBufferPointer(start: value, count: valueLength)
    return unsafe Unmanaged<HTTP2Session>.fromOpaque(data)._withUnsafeGuaranteedRef { session in
      unsafe session.fields.append(Span(_unsafeElements: name), Span(_unsafeElements: value))
      if session.fields.isWithin(session.limits) {
        // An earlier section of the same bytes may have used up the budget.
        if session.flood == nil { return 0 }
      } else {
        session.flood = .flood(.fields)
      }
      // nghttp2 then returns from `nghttp2_session_mem_recv`, and `receive` throws the flood.
      return Int32(NGHTTP2_ERR_PAUSE.rawValue)
    }
  }

  private func frameReceived(_ frame: UnsafePointer<nghttp2_frame>) {
    let head = unsafe frame.pointee.hd
    let endsStream = UInt32(head.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
    switch UInt32(head.type) {
    case NGHTTP2_PING.rawValue:
      // The gateway sends only one PING, with the notice of its shutdown.
      if UInt32(head.flags) & NGHTTP2_FLAG_ACK.rawValue != 0 { isNoticeAcknowledged = true }
    case NGHTTP2_HEADERS.rawValue:
      let isRequest = unsafe frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST
      withStream(head.stream_id) { fieldsReceived($0, isRequest: isRequest, endsStream: endsStream) }
    case NGHTTP2_DATA.rawValue:
      if endsStream { withStream(head.stream_id) { requestEnded($0) } }
    default: break
    }
  }

  private func fieldsReceived(_ stream: HTTP2Stream, isRequest: Bool, endsStream: Bool) {
    defer { fields.clear() }
    // The client may send a request again that was not processed (RFC 9113, section 8.7).
    if fields.lacksMemory || isRequest && !buffers.ensureBlock(in: stream.head) {
      return reset(stream, isRequest ? .refusedStream : .internalError)
    }
    do throws(RequestTranslation.Refusal) {
      if isRequest {
        var translation = RequestTranslation()
        try translation.translate(fields, to: stream.head)
        stream.state.isHeadRequest = translation.isHeadRequest
        stream.state.contentLength = translation.contentLength
      } else {
        guard !fields.isTooLarge else { throw .tooLarge }
        let trailers = try RequestTranslation.trailers(fields)
        if keepsTrailers, stream.mayCarryTrailers { stream.requestTrailers = trailers }
      }
    } catch {
      guard isRequest, error == .tooLarge else { return refuse(stream) }
      stream.state.isTooLarge = true
      stream.state.isHeadRequest = RequestTranslation.isHeadRequest(fields)
      spendReset()
    }
    // From now on, `takeChangedStreams` reports the request.
    stream.state.isReportable = true
    recordChange(of: stream)
    if endsStream { requestEnded(stream) }
  }

  private func dataReceived(_ id: Int32, _ bytes: Span<UInt8>) {
    guard let stream = stream(id), stream.state.isReportable, !stream.state.resetByServer else {
      return returnConnectionCredit(bytes.count)
    }
    if stream.state.discardsRequest { return discard(bytes.count, of: stream) }
    if let contentLength = stream.state.contentLength, stream.state.receivedBodyBytes + bytes.count > contentLength {
      returnConnectionCredit(bytes.count)
      return refuse(stream)
    }
    bufferBody(bytes, of: stream)
  }

  private func discard(_ count: Int, of stream: HTTP2Stream) {
    returnConnectionCredit(count)
    stream.state.discardedBytes += count
    if stream.state.discardedBytes <= limits.discardedBytes {
      returnStreamCredit(stream, count)
    } else if stream.responseSentEarly {
      reset(stream, .noError)
    }
  }

  private func requestEnded(_ stream: HTTP2Stream) {
    if let contentLength = stream.state.contentLength, contentLength != stream.state.receivedBodyBytes,
      !stream.state.discardsRequest
    {
      return refuse(stream)
    }
    stream.state.requestEnded = true
    recordChange(of: stream)
  }

  /// Resets the stream of a malformed request. `resetSent` counts the reset against the client's budget.
  private func refuse(_ stream: HTTP2Stream) {
    guard !stream.state.resetByServer else { return }
    reset(stream, .protocolError)
    stream.state.isRefused = true
    recordChange(of: stream)
  }

  // MARK: Sending

  private func frameSent(_ head: nghttp2_frame_hd) {
    let endsStream = UInt32(head.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
    switch UInt32(head.type) {
    case NGHTTP2_RST_STREAM.rawValue:
      resetSent(head.stream_id)
    case NGHTTP2_DATA.rawValue, NGHTTP2_HEADERS.rawValue:
      budget.allowMoreControlFrames()
      if endsStream { withStream(head.stream_id) { if !$0.state.requestEnded { responseSent($0) } } }
    default: break
    }
  }

  /// Handles the end of a response that is sent before the client has ended the request. The rest of the request is not
  /// needed (RFC 9113, section 8.1), but up to `discardedBytes` of it are still accepted.
  private func responseSent(_ stream: HTTP2Stream) {
    stream.state.responseSentEarly = true
    if stream.state.discardedBytes > limits.discardedBytes { reset(stream, .noError) } else { recordChange(of: stream) }
  }

  /// Counts a sent reset against the client's budget, unless the gateway itself decided to reset the stream of a
  /// well-formed request. A client that makes the server reset its streams is as costly as a client that resets them
  /// itself (CVE-2025-8671).
  private func resetSent(_ id: Int32) {
    if let stream = stream(id), stream.state.resetByServer, !stream.isRefused { return }
    spendReset()
  }

  private func spendReset() {
    do throws(HTTP2Failure) {
      try budget.spendReset()
    } catch {
      flood = error
    }
  }

  /// The callback through which nghttp2 reads the bytes of responses.
  static var provider: nghttp2_data_provider {
    var provider = unsafe nghttp2_data_provider()
    unsafe provider.read_callback = { _, id, destination, limit, flags, _, data in
      var result = Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
      _ = unsafe HTTP2Session.withSession(data) { session in
        guard let destination = unsafe destination else { return }
        session.withStream(id) { stream in
          guard let count = unsafe session.copyResponse(to: destination, limit: limit, of: stream) else {
            result = Int(NGHTTP2_ERR_DEFERRED.rawValue)
            return
          }
          if stream.state.responseEnded, stream.outboundBytes == 0 {
            unsafe flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
            if !stream.responseTrailers.isEmpty {
              unsafe flags?.pointee |= NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue
              session.submitTrailers(of: stream)
            }
          }
          result = count
        }
      }
      return result
    }
    return unsafe provider
  }
}
