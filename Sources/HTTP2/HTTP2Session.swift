internal import CNghttp2
public import Reactor
public import Time

/// The server side of one HTTP/2 connection (RFC 9113) on top of nghttp2, without a socket.
///
/// Theory of operation. `receive` processes received bytes, `produce` returns bytes to send, and `takeNews` returns the
/// streams that have news, i.e. on which something has happened since the last call. The callbacks of nghttp2 only
/// record events; no code of the proxy runs inside them. The frames of a batch of received bytes are counted before
/// nghttp2 processes it, so that a batch that breaks the budget has no effect.
///
/// Flow-control credit (RFC 9113, section 5.2) bounds the memory. The session returns the credit of a stream when the
/// bytes have been forwarded, so each stream buffers at most one window. It returns the credit of the connection on
/// receipt, so that one stuck stream does not stop the others, as long as the bodies of all streams together need less
/// memory than `bufferedBodies`. Memory is counted in whole blocks.
@safe public final class HTTP2Session {
  /// The limits of this connection.
  public let limits: HTTP2Limits
  let buffers: BufferPool
  var session: OpaquePointer?
  /// The streams that nghttp2 has not closed. nghttp2 has an unretained reference to each.
  private var open: [HTTP2Stream] = []
  /// Objects of closed streams, reused for new ones.
  private var spare: [HTTP2Stream] = []
  /// The streams with news that `takeNews` has not reported yet.
  private var news: [HTTP2Stream] = []
  /// The fields of the section that is being received.
  let fields: FieldBlock
  private var meter: FrameMeter
  var budget: FloodBudget
  /// A flood that a callback detected.
  var flood: HTTP2Failure?
  /// The memory of buffered request bodies of all streams, in bytes.
  private(set) var buffered = 0
  /// The credit of the connection that is withheld, in bytes.
  private var withheld = 0
  /// The memory of buffered responses of all streams, in bytes.
  public private(set) var outbound = 0
  /// The number of response bytes passed to nghttp2 since the connection began; wraps on overflow.
  public private(set) var sentBytes = 0
  var now: MonotonicTime = 0
  /// True once the client has answered the PING that was sent with the shutdown notice.
  public internal(set) var isNoticeAcknowledged = false

  /// The window of a stream and of the connection: the default of RFC 9113, section 6.9.2.
  private static let window = 65_535
  /// The memory that the bytes of one window of the connection may add to that of bodies. Blocks are at most half as
  /// large again as their content, and each stream may have a small block that is nearly empty.
  private var windowMemory: Int {
    let most = HTTP2Session.window * 3 / 2 + limits.concurrentStreams * HTTP2Session.smallBlock
    return min(most, limits.bufferedBodies - HTTP2Session.window)
  }
  /// The size of a small block in bytes.
  private static let smallBlock = 2 * 1024
  /// The memory of responses up to which a stream gets a normal block; above it, the stream gets a block of exactly the
  /// needed size. Seven normal blocks hold as much as a connection sends in a turn.
  private static let commonBlocks = 7 * Buffer.capacity
  /// The maximum number of spare stream objects: as many as most connections have concurrent streams.
  private static let spareLimit = 16

  /// Creates a session and queues its SETTINGS; `nil` if there is no memory left.
  public init?(_ limits: HTTP2Limits, _ buffers: BufferPool) {
    self.limits = limits
    self.buffers = buffers
    fields = FieldBlock(buffers)
    meter = FrameMeter(limits)
    budget = FloodBudget(limits)
    unsafe session = unsafe HTTP2Session.open(unsafe Unmanaged.passUnretained(self).toOpaque())
    guard unsafe session != nil, submitSettings() else { return nil }
  }

  deinit {
    // Delete nghttp2's session before the streams are freed; it makes no callbacks while it is deleted.
    unsafe nghttp2_session_del(session)
    for stream in open { stream.release() }
    fields.clear()
  }

  private func submitSettings() -> Bool {
    let settings = [
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: UInt32(limits.concurrentStreams)),
      // The size that an HTTP/1.1 head may have.
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue), value: UInt32(Buffer.readSize)),
      // The old priority tree would cost work and memory at the client's request (RFC 9218, section 2.1).
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES.rawValue), value: 1),
    ]
    return unsafe settings.withUnsafeBufferPointer {
      unsafe nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), $0.baseAddress, $0.count) == 0
    }
  }

  // MARK: Streams

  func begin(_ id: Int32) {
    let stream: HTTP2Stream
    if let past = spare.popLast() {
      past.begin(id)
      stream = past
    } else {
      stream = HTTP2Stream(id, buffers)
    }
    stream.state.position = open.count
    open.append(stream)
    // `open` retains the stream until nghttp2 has closed it.
    _ = unsafe nghttp2_session_set_stream_user_data(session, id, Unmanaged.passUnretained(stream).toOpaque())
  }

  func stream(_ id: Int32) -> HTTP2Stream? {
    guard let data = unsafe nghttp2_session_get_stream_user_data(session, id) else { return nil }
    return unsafe Unmanaged<HTTP2Stream>.fromOpaque(data).takeUnretainedValue()
  }

  private func forget(_ stream: HTTP2Stream) {
    let position = stream.state.position
    guard position >= 0, let last = open.popLast() else { return }
    stream.state.position = -1
    if last !== stream {
      open[position] = last
      last.state.position = position
    }
  }

  /// Keeps the object of a closed stream that is no longer served, to reuse it.
  public func recycle(_ stream: HTTP2Stream) {
    // A stream with news is still to be reported. Its buffers were released when it was closed.
    guard stream.isClosed, !stream.state.hasNews, spare.count < HTTP2Session.spareLimit else { return }
    spare.append(stream)
  }

  // MARK: Receiving

  /// Processes received bytes.
  ///
  /// Throws if the connection must be ended: after a flood, a GOAWAY waits to be sent. After a protocol error that
  /// `FrameMeter` detects, only a GOAWAY is still sent.
  public func receive(_ bytes: Span<UInt8>, now: MonotonicTime) throws(HTTP2Failure) {
    self.now = now
    budget.advance(to: now)
    do throws(HTTP2Failure) {
      try meter.count(bytes, &budget)
      if let violation = meter.violation { return end(violation) }
      // Sound: nghttp2 copies the bytes that it keeps before it returns.
      let result = unsafe bytes.withUnsafeBufferPointer {
        unsafe nghttp2_session_mem_recv(session, $0.baseAddress, $0.count)
      }
      if let flood {
        self.flood = nil
        throw flood
      }
      if result == Int(NGHTTP2_ERR_FLOODED.rawValue) { throw .flood(.controlFrames) }
      if result < 0 { throw .broken }
      if !meter.usedAfterReset.isEmpty { resetUsedAfterReset() }
    } catch {
      if case .flood = error { end(.enhanceYourCalm) }
      throw error
    }
  }

  /// Resets the streams on which the client has sent frames after it reset them itself. The budget of resets limits
  /// these resets.
  private func resetUsedAfterReset() {
    let code = HTTP2ErrorCode.streamClosed.rawValue
    for id in meter.usedAfterReset {
      _ = unsafe nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), Int32(id), code)
    }
    meter.usedAfterReset.removeAll(keepingCapacity: true)
  }

  /// True if the client has begun a field section and not completed it.
  public var awaitsFields: Bool { meter.isInFieldSection }

  /// Calls `body` for each stream with an event since the last call: a request began, bytes of it arrived, or it ended;
  /// bytes of the response were passed to nghttp2; the stream was refused, its response was sent before the end of its
  /// request, or it was closed.
  public func takeNews(_ body: (HTTP2Stream) -> Void) {
    guard !news.isEmpty else { return }
    var position = 0
    while position < news.count {
      let stream = news[position]
      position += 1
      stream.state.hasNews = false
      body(stream)
    }
    news.removeAll(keepingCapacity: true)
  }

  /// Adds the stream to those that `takeNews` reports.
  func addNews(_ stream: HTTP2Stream) {
    if stream.state.hasNews { return }
    stream.state.hasNews = true
    news.append(stream)
  }

  func received(_ bytes: Span<UInt8>, on stream: HTTP2Stream) {
    let before = stream.state.bodyMemory
    stream.append(bytes)
    buffered += stream.state.bodyMemory - before
    if buffered + windowMemory <= limits.bufferedBodies {
      creditConnection(bytes.count)
    } else {
      withheld += bytes.count
    }
    addNews(stream)
  }

  func creditConnection(_ count: Int) {
    if count > 0 { _ = unsafe nghttp2_session_consume_connection(session, count) }
  }

  /// Subtracts `count` bytes of body memory that were released. Returns withheld credit if this memory now allows it.
  private func releaseBodyMemory(_ count: Int) {
    buffered -= count
    guard withheld > 0, buffered + windowMemory <= limits.bufferedBodies else { return }
    creditConnection(withheld)
    withheld = 0
  }

  /// Moves bytes of the request, in HTTP/1.1 form, into `buffer`. Returns the number of bytes, 0 if there are none yet
  /// or no room, or `nil` at the end of the request.
  ///
  /// The call also confirms that the bytes returned before have been forwarded, and returns their credit to the stream.
  public func read(_ stream: HTTP2Stream, into buffer: Buffer) -> Int? {
    credit(stream)
    if stream.state.stopsReading { return nil }
    let before = buffer.count
    let kept = stream.state.bodyMemory
    switch stream.take(into: buffer) {
    case .ended: return nil
    case .nothing: return 0
    case .bytes(let count):
      stream.state.uncredited += count
      releaseBodyMemory(kept - stream.state.bodyMemory)
      return buffer.count - before
    }
  }

  private func credit(_ stream: HTTP2Stream) {
    guard stream.state.uncredited > 0 else { return }
    creditStream(stream, stream.state.uncredited)
    stream.state.uncredited = 0
  }

  func creditStream(_ stream: HTTP2Stream, _ count: Int) {
    guard !stream.isClosed, !stream.state.requestEnded else { return }
    _ = unsafe nghttp2_session_consume_stream(session, stream.id, count)
  }

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

  /// Discards the rest of the request. If the client sends much more of it after the response, the stream is reset with
  /// NO_ERROR.
  public func stopReading(_ stream: HTTP2Stream) {
    guard !stream.state.stopsReading else { return }
    stream.state.stopsReading = true
    let count = stream.state.bodyBytes + stream.state.uncredited
    dropRequest(stream)
    stream.state.uncredited = 0
    stream.state.discarded = count
    creditStream(stream, count)
  }

  /// Resets the stream with this error code, if it is still open.
  public func reset(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode) {
    guard !stream.isClosed else { return }
    stream.state.resetByServer = true
    _ = unsafe nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, code.rawValue)
  }

  /// Releases the buffered part of the request.
  private func dropRequest(_ stream: HTTP2Stream) {
    let kept = stream.state.bodyMemory
    stream.dropBody()
    releaseBodyMemory(kept)
  }

  func closed(_ stream: HTTP2Stream) {
    forget(stream)
    stream.state.isClosed = true
    outbound -= stream.outbound.blockSize
    dropRequest(stream)
    stream.release()
    if stream.state.isBegun { addNews(stream) }
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

  /// Releases the buffered responses, because the connection has ended.
  public func dropResponses() {
    for stream in open {
      outbound -= stream.outbound.blockSize
      buffers.wipeAndGiveBack(stream.outbound)
    }
  }
}
