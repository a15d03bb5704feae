/// The state of each stream according to the frames that the client has sent. Used to detect frames that the client
/// sends after it has ended or reset the stream, and frames that begin streams out of order (RFC 9113, section 5.1).
///
/// nghttp2 cannot detect these frames: it forgets a closed stream and ignores later frames on it, because the client
/// may have sent them before it received a reset from the server. This type ignores the resets that the gateway sends.
/// A stream stays open here until the client itself ends it. So frames that the client sent before it received a reset
/// are allowed.
struct ClientStreams {
  /// The result of the check of one frame.
  enum Verdict: Equatable {
    case allowed
    /// The client has already reset the stream: a stream error.
    case afterReset
    /// The client has already ended the stream, or the frame is DATA on a skipped stream: a connection error. A stream
    /// is skipped if the client begins a stream with a higher number first.
    case streamClosed
    /// The frame begins a skipped stream: a connection error.
    case outOfOrder
  }

  /// The maximum length of `openStreams`. The limit is necessary because a client may never end the streams that the
  /// gateway has reset.
  static let openLimit = 256
  /// The maximum length of `recentResets` and of `skippedRanges`.
  private static let recentLimit = 16

  /// The number of the latest stream that the client has begun, which is also the highest number; 0 before the first.
  private var latest: UInt32 = 0
  /// Streams that the client has begun and not ended, in ascending order.
  private var openStreams: [UInt32] = []
  /// The highest stream number that was removed from `openStreams` because the list was full; 0 if no number was
  /// removed. Each stream up to this number may still be open.
  private var highestForgotten: UInt32 = 0
  /// The streams that the client reset most recently.
  private var recentResets: [UInt32] = []
  /// The numbers of the streams that the client skipped most recently.
  private var skippedRanges: [Range<UInt32>] = []

  mutating func receivedHeaders(_ id: UInt32, endsStream: Bool) -> Verdict {
    // nghttp2 itself rejects even numbers, which clients must not use.
    guard id % 2 == 1 else { return .allowed }
    guard id > latest else { return receivedOnEarlierStream(id, endsStream: endsStream, isHeaders: true) }
    if id > latest + 2 { recordSkipped(latest + 1..<id) }
    latest = id
    guard !endsStream else { return .allowed }
    openStreams.append(id)
    if openStreams.count > ClientStreams.openLimit { highestForgotten = openStreams.removeFirst() }
    return .allowed
  }

  mutating func receivedData(_ id: UInt32, endsStream: Bool) -> Verdict {
    // nghttp2 itself rejects DATA on a stream that has not begun.
    guard id % 2 == 1, id <= latest else { return .allowed }
    return receivedOnEarlierStream(id, endsStream: endsStream, isHeaders: false)
  }

  mutating func receivedReset(_ id: UInt32) {
    guard id % 2 == 1, id <= latest else { return }
    if let index = openStreams.lastIndex(of: id) { openStreams.remove(at: index) }
    if recentResets.count == ClientStreams.recentLimit { recentResets.removeFirst() }
    recentResets.append(id)
  }

  private mutating func receivedOnEarlierStream(_ id: UInt32, endsStream: Bool, isHeaders: Bool) -> Verdict {
    if let index = openStreams.lastIndex(of: id) {
      if endsStream { openStreams.remove(at: index) }
      return .allowed
    }
    if recentResets.contains(id) { return .afterReset }
    if isHeaders, skippedRanges.contains(where: { $0.contains(id) }) { return .outOfOrder }
    return id <= highestForgotten ? .allowed : .streamClosed
  }

  private mutating func recordSkipped(_ range: Range<UInt32>) {
    if skippedRanges.count == ClientStreams.recentLimit { skippedRanges.removeFirst() }
    skippedRanges.append(range)
  }
}
