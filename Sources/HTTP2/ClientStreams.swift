/// The state of each stream according to the frames that the client has sent. Used to detect frames that arrive after
/// the client has ended or reset a stream, or that open streams out of order (RFC 9113, section 5.1).
///
/// nghttp2 forgets a stream as soon as it is closed and then ignores frames for it, because the client may have sent
/// them before it received the reset of the server. This type only tracks what the client has sent: a stream that the
/// client has not ended stays open here even after the gateway has reset it. So frames that were in flight at that time
/// are no errors.
struct ClientStreams {
  /// The verdict on a frame.
  enum Verdict: Equatable {
    case allowed
    /// The client has already reset the stream: a stream error.
    case afterReset
    /// The client has already ended the stream, or a DATA frame names a stream that the client skipped: a connection
    /// error.
    case streamClosed
    /// The frame begins a stream with a lower number than an earlier stream: a connection error.
    case outOfOrder
  }

  /// The maximum length of `open`. There is a limit because streams that the gateway has reset stay in `open` if the
  /// client never ends them.
  static let openLimit = 256
  /// The maximum length of `resets` and of `gaps`.
  private static let recentLimit = 16

  /// The highest number of a stream that the client has begun; 0 before the first.
  private var last: UInt32 = 0
  /// Streams that the client has begun and not ended, in ascending order.
  private var open: [UInt32] = []
  /// The highest stream number that was removed from `open` because `open` was full; 0 if none was. Streams up to this
  /// number may be open.
  private var highestForgotten: UInt32 = 0
  /// The streams that the client reset most recently.
  private var resets: [UInt32] = []
  /// The numbers that the client most recently skipped when it began a later stream.
  private var gaps: [Range<UInt32>] = []

  mutating func receivedHeaders(_ id: UInt32, endsStream: Bool) -> Verdict {
    guard id % 2 == 1 else { return .allowed }
    guard id > last else { return receivedOnEarlierStream(id, endsStream: endsStream, isHeaders: true) }
    if id > last + 2 { recordGap(last + 1..<id) }
    last = id
    guard !endsStream else { return .allowed }
    open.append(id)
    if open.count > ClientStreams.openLimit { highestForgotten = open.removeFirst() }
    return .allowed
  }

  mutating func receivedData(_ id: UInt32, endsStream: Bool) -> Verdict {
    // nghttp2 rejects a frame on a stream that has not begun.
    guard id % 2 == 1, id <= last else { return .allowed }
    return receivedOnEarlierStream(id, endsStream: endsStream, isHeaders: false)
  }

  mutating func receivedReset(_ id: UInt32) {
    guard id % 2 == 1, id <= last else { return }
    if let index = open.lastIndex(of: id) { open.remove(at: index) }
    if resets.count == ClientStreams.recentLimit { resets.removeFirst() }
    resets.append(id)
  }

  private mutating func receivedOnEarlierStream(_ id: UInt32, endsStream: Bool, isHeaders: Bool) -> Verdict {
    if let index = open.lastIndex(of: id) {
      if endsStream { open.remove(at: index) }
      return .allowed
    }
    if resets.contains(id) { return .afterReset }
    if isHeaders, gaps.contains(where: { $0.contains(id) }) { return .outOfOrder }
    return id <= highestForgotten ? .allowed : .streamClosed
  }

  private mutating func recordGap(_ gap: Range<UInt32>) {
    if gaps.count == ClientStreams.recentLimit { gaps.removeFirst() }
    gaps.append(gap)
  }
}
