internal import CNghttp2
public import Reactor
public import Time

/// The server side of one HTTP/2 connection (RFC 9113) on top of nghttp2, without a socket.
///
/// `receive` processes received bytes, `produce` writes the bytes to send into a buffer, and `takeChangedStreams`
/// reports the streams on which an event has happened since the previous call of `takeChangedStreams`. The callbacks of
/// nghttp2 only record events; no code of the proxy runs inside them. Before nghttp2 processes received bytes,
/// `FrameMeter` counts the frames in them. If a frame exceeds the budget (`FloodBudget`), nghttp2 gets none of the
/// bytes.
///
/// Flow-control credit (RFC 9113, section 5.2) bounds the memory. The session returns the stream's credit for body
/// bytes when these bytes have been forwarded, or when the caller has room for more in a buffer of its own. So each
/// stream buffers at most one window in addition to the caller's buffer. The session returns the
/// connection's credit for the same bytes as soon as they arrive, so that a stuck stream does not stop the others. The
/// session withholds the connection's credit while the bodies of all streams could need more memory than
/// `HTTP2Limits.bufferedBodies`. The memory of a body is the size of the blocks that contain the body.
@safe public final class HTTP2Session {
  /// The limits of this connection.
  public let limits: HTTP2Limits
  /// True if trailers of requests are kept for the caller. Otherwise they are checked and dropped when they arrive.
  let keepsTrailers: Bool
  let buffers: BufferPool
  /// The session object of nghttp2.
  var session: OpaquePointer?
  /// The streams that nghttp2 has not closed. nghttp2 stores an unretained reference to each stream.
  private var openStreams: [HTTP2Stream] = []
  /// The number of the stream that `withStream` found last, 0 for none: most callbacks follow one for the same stream.
  private var recentID: Int32 = 0
  /// The stream `recentID`. It is open, so `openStreams` retains it.
  private var recentStream: Unmanaged<HTTP2Stream>?
  /// The objects of closed streams, which new streams reuse.
  private var spareStreams: [HTTP2Stream] = []
  /// The streams with an event that `takeChangedStreams` has not reported yet. Each is retained here; a normal array
  /// would count one more reference for each report.
  private var changedStreams: [Unmanaged<HTTP2Stream>] = unsafe []
  /// The fields of the section that is being received.
  let fields: FieldBlock
  private var meter: FrameMeter
  var budget: FloodBudget
  /// The flood that a callback detected; `receive` and `produce` throw it.
  var flood: HTTP2Failure?
  /// The memory of the buffered request bodies of all streams, in bytes.
  private var bodyMemory = 0
  /// The credit of the connection that is withheld, in bytes.
  private var withheldCredit = 0
  /// The memory of buffered responses of all streams, in bytes.
  public internal(set) var responseMemory = 0
  /// The number of response bytes passed to nghttp2 since the connection began; wraps on overflow.
  public internal(set) var sentBytes = 0
  /// The time of the last `receive`.
  var now: MonotonicTime = 0
  /// True once the client has answered the PING that was sent with the shutdown notice.
  public internal(set) var isNoticeAcknowledged = false

  /// The initial window of each stream and of the connection, in bytes: the default of RFC 9113, section 6.9.2.
  private static let windowSize = 65_535
  /// The memory, in bytes, that the bodies may need in addition to `bodyMemory` if the client uses the whole window of
  /// the connection. The size of a block is at most 1.5 times that of its content, except that each stream may have one
  /// nearly empty small block. The result is at most `bufferedBodies - windowSize`. So even if `bufferedBodies` is
  /// small, the session returns credit whenever `bodyMemory` is at most `windowSize`.
  private var windowMemory: Int {
    let maximum = HTTP2Session.windowSize * 3 / 2 + limits.concurrentStreams * HTTP2Session.smallBlockSize
    return min(maximum, limits.bufferedBodies - HTTP2Session.windowSize)
  }
  /// The size of a small block in bytes.
  private static let smallBlockSize = 2 * 1024
  /// The maximum number of spare stream objects. Most connections never have more concurrent streams than this.
  public static let spareLimit = 16

  /// Creates a session and queues its SETTINGS frame; `nil` if there is no memory left.
  public init?(_ limits: HTTP2Limits, keepsTrailers: Bool, _ buffers: BufferPool) {
    self.limits = limits
    self.keepsTrailers = keepsTrailers
    self.buffers = buffers
    fields = FieldBlock(buffers)
    meter = FrameMeter(limits)
    budget = FloodBudget(limits)
    unsafe session = unsafe HTTP2Session.makeSession(unsafe Unmanaged.passUnretained(self).toOpaque())
    guard unsafe session != nil, submitSettings() else { return nil }
  }

  deinit {
    // Delete nghttp2's session before the streams are freed. Its deletion runs no callbacks.
    unsafe nghttp2_session_del(session)
    for stream in openStreams { stream.release() }
    while let changed = unsafe changedStreams.popLast() { unsafe changed.release() }
    fields.clear()
  }

  private func submitSettings() -> Bool {
    let settings = [
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue),
        value: UInt32(clamping: limits.concurrentStreams)),
      // The size that an HTTP/1.1 head may have.
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue), value: UInt32(clamping: Buffer.readSize)),
      // With the priorities of RFC 7540, a client could make the server spend work and memory on a priority tree (RFC
      // 9218, section 2.1).
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES.rawValue), value: 1),
    ]
    return unsafe settings.withUnsafeBufferPointer {
      unsafe nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), $0.baseAddress, $0.count) == 0
    }
  }

  // MARK: Streams

  func beginStream(_ id: Int32) {
    let stream = spareStreams.popLast() ?? HTTP2Stream(buffers)
    stream.begin(id)
    stream.state.openIndex = openStreams.count
    let data = unsafe Unmanaged.passUnretained(stream).toOpaque()
    // `openStreams` retains the stream until nghttp2 has closed it.
    openStreams.append(consume stream)
    _ = unsafe nghttp2_session_set_stream_user_data(session, id, data)
    unsafe remember(data, as: id)
  }

  func stream(_ id: Int32) -> HTTP2Stream? {
    guard let data = unsafe nghttp2_session_get_stream_user_data(session, id) else { return nil }
    return unsafe Unmanaged<HTTP2Stream>.fromOpaque(data).takeUnretainedValue()
  }

  /// Calls `body` with the open stream `id`, if there is one, without counting references. `body` must not close the
  /// stream (`closeStream`).
  @inline(__always)
  func withStream(_ id: Int32, _ body: (HTTP2Stream) -> Void) {
    if id != recentID {
      guard let data = unsafe nghttp2_session_get_stream_user_data(session, id) else { return }
      unsafe remember(data, as: id)
    }
    // Sound: `openStreams` retains the stream. `closeStream`, which ends that, forgets the stream.
    unsafe recentStream?._withUnsafeGuaranteedRef(body)
  }

  private func remember(_ data: UnsafeMutableRawPointer, as id: Int32) {
    recentID = id
    unsafe recentStream = Unmanaged<HTTP2Stream>.fromOpaque(data)
  }

  /// Removes the stream with this `openIndex` from `openStreams` and returns it.
  private func takeOpenStream(at index: Int) -> HTTP2Stream {
    var stream = openStreams.removeLast()
    if index < openStreams.count {
      stream.state.openIndex = index
      swap(&openStreams[index], &stream)
    }
    stream.state.openIndex = -1
    return stream
  }

  /// Keeps the object of a closed stream, which the caller no longer uses, for a new stream. Returns false if the object
  /// is not kept.
  public func recycle(_ stream: HTTP2Stream) -> Bool {
    // The object of a stream that `takeChangedStreams` has not reported yet must not be reused.
    guard stream.isClosed, !stream.state.hasChanged, spareStreams.count < HTTP2Session.spareLimit else { return false }
    spareStreams.append(stream)
    return true
  }

  /// Releases the objects that are kept for new streams.
  public func dropSpareStreams() {
    spareStreams = []
  }

  // MARK: Receiving

  /// Processes received bytes.
  ///
  /// Throws after a flood or a failure of nghttp2. The caller must then end the connection. After a flood, `produce`
  /// writes a GOAWAY first. If `FrameMeter` detects a protocol error, the function does not throw: `produce` then
  /// writes only a GOAWAY, and afterwards `hasEnded` is true.
  public func receive(_ bytes: Span<UInt8>, now: MonotonicTime) throws(HTTP2Failure) {
    self.now = now
    budget.advance(to: now)
    do throws(HTTP2Failure) {
      try meter.countFrames(in: bytes, &budget)
      if let violation = meter.violation { return endConnection(violation) }
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
      if !meter.streamsUsedAfterReset.isEmpty { resetStreamsUsedAfterReset() }
    } catch {
      if case .flood = error { endConnection(.enhanceYourCalm) }
      throw error
    }
  }

  /// Sends RST_STREAM on each stream that the client had reset and on which it then sent more frames. Each RST_STREAM
  /// that is sent uses up a part of the client's budget (`resetSent`).
  private func resetStreamsUsedAfterReset() {
    let code = HTTP2ErrorCode.streamClosed.rawValue
    for id in meter.streamsUsedAfterReset {
      _ = unsafe nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), Int32(clamping: id), code)
    }
    meter.streamsUsedAfterReset.removeAll(keepingCapacity: true)
  }

  /// True if the client has begun a field section and not completed it.
  public var awaitsFields: Bool { meter.isInFieldSection }

  /// Calls `body`, which must not call this function, for each stream on which an event has happened since the last
  /// call. The events are:
  ///
  /// - the request began, more bytes of it arrived, or it ended
  /// - nghttp2 took bytes of the response, or the whole response was sent before the end of the request
  /// - the stream was refused or closed; a stream whose request is not complete is reported only if the caller has data
  ///   about its object (`HTTP2Stream.callerIndex`)
  public func takeChangedStreams(_ body: (HTTP2Stream) -> Void) {
    guard unsafe !changedStreams.isEmpty else { return }
    var index = 0
    // `body` may cause further changes.
    while unsafe index < changedStreams.count {
      let changed = unsafe changedStreams[index]
      index += 1
      unsafe changed._withUnsafeGuaranteedRef { stream in
        stream.state.hasChanged = false
        body(stream)
      }
      unsafe changed.release()
    }
    unsafe changedStreams.removeAll(keepingCapacity: true)
  }

  /// Adds the stream to those that `takeChangedStreams` reports.
  func recordChange(of stream: HTTP2Stream) {
    if stream.state.hasChanged { return }
    stream.state.hasChanged = true
    unsafe changedStreams.append(.passRetained(stream))
  }

  func bufferBody(_ bytes: Span<UInt8>, of stream: HTTP2Stream) {
    let before = stream.state.bodyMemory
    if !stream.append(bytes) { reset(stream, .internalError) }
    bodyMemory += stream.state.bodyMemory - before
    if bodyMemory + windowMemory <= limits.bufferedBodies {
      returnConnectionCredit(bytes.count)
    } else {
      withheldCredit += bytes.count
    }
    recordChange(of: stream)
  }

  func returnConnectionCredit(_ count: Int) {
    if count > 0 { _ = unsafe nghttp2_session_consume_connection(session, count) }
  }

  /// Records that `count` bytes of body memory were released. Gives the withheld credit back to the client if
  /// `bufferedBodies` now allows this.
  private func releaseBodyMemory(_ count: Int) {
    bodyMemory -= count
    guard withheldCredit > 0, bodyMemory + windowMemory <= limits.bufferedBodies else { return }
    returnConnectionCredit(withheldCredit)
    withheldCredit = 0
  }

  /// Moves bytes of the request, in HTTP/1.1 form, into `buffer`. Returns the number of moved bytes. It is 0 if no
  /// bytes are available or there is no room. Returns `nil` at the end of the request.
  ///
  /// Each call gives the client the stream's credit for the bytes of the previous call. So call this function only when
  /// these bytes have been forwarded, or while the bounded buffer that keeps them has room for more
  /// (`Exchange.bufferRequest`). A caller that has read bytes and wants more calls until the result is 0. Otherwise a
  /// client that has used up its credit, and the caller, would wait for each other.
  public func read(_ stream: HTTP2Stream, into buffer: Buffer) -> Int? {
    returnCreditOfForwardedBytes(stream)
    if stream.state.discardsRequest { return nil }
    let before = buffer.count
    let memoryBefore = stream.state.bodyMemory
    switch stream.take(into: buffer) {
    case .ended: return nil
    case .nothing: return 0
    case .bytes(let bodyCount):
      stream.state.uncreditedBytes += bodyCount
      releaseBodyMemory(memoryBefore - stream.state.bodyMemory)
      return buffer.count - before
    }
  }

  private func returnCreditOfForwardedBytes(_ stream: HTTP2Stream) {
    guard stream.state.uncreditedBytes > 0 else { return }
    returnStreamCredit(stream, stream.state.uncreditedBytes)
    stream.state.uncreditedBytes = 0
  }

  func returnStreamCredit(_ stream: HTTP2Stream, _ count: Int) {
    guard !stream.isClosed, !stream.state.requestEnded else { return }
    _ = unsafe nghttp2_session_consume_stream(session, stream.id, count)
  }

  // MARK: The end of streams

  /// Discards the rest of the request. If the client sends more than `HTTP2Limits.discardedBytes` of it, the stream is
  /// reset with NO_ERROR after the response.
  public func stopReading(_ stream: HTTP2Stream) {
    guard !stream.state.discardsRequest else { return }
    stream.state.discardsRequest = true
    let count = stream.state.bodyBytes + stream.state.uncreditedBytes
    dropRequest(stream)
    stream.state.uncreditedBytes = 0
    stream.state.discardedBytes = count
    returnStreamCredit(stream, count)
  }

  /// Resets the stream with this error code unless the stream is closed.
  public func reset(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode) {
    guard !stream.isClosed else { return }
    stream.state.resetByServer = true
    _ = unsafe nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, code.rawValue)
  }

  /// Releases the buffered part of the request.
  private func dropRequest(_ stream: HTTP2Stream) {
    let memory = stream.state.bodyMemory
    stream.dropBody()
    releaseBodyMemory(memory)
  }

  /// Releases everything that the stream `id` buffers, because nghttp2 has closed the stream.
  func closeStream(_ id: Int32) {
    var index = -1
    withStream(id) { index = $0.state.openIndex }
    recentID = 0
    unsafe recentStream = nil
    guard index >= 0 else { return }
    let stream = takeOpenStream(at: index)
    stream.state.isClosed = true
    responseMemory -= stream.outbound.blockSize
    dropRequest(stream)
    stream.release()
    // The caller of a reused object has to know that the object is released.
    guard stream.state.isReportable || stream.callerIndex >= 0, !stream.state.hasChanged else { return }
    // Like `recordChange`, which would count one more reference.
    stream.state.hasChanged = true
    unsafe changedStreams.append(.passRetained(consume stream))
  }

  /// Releases the buffered responses, because the connection has ended.
  public func dropResponses() {
    for stream in openStreams {
      responseMemory -= stream.outbound.blockSize
      buffers.wipeAndGiveBack(stream.outbound)
    }
  }
}
