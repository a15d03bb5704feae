/// The stream states that the client has declared, used to detect frames after the end of a stream (RFC 9113, section
/// 5.1).
///
/// nghttp2 forgets a stream as soon as it is closed and then ignores frames for it, because they may have been in
/// flight when the server reset the stream. Here only the client's side counts: a stream that the client has not ended
/// stays open, whatever the gateway does with it, so frames in flight after the gateway's own reset are no errors.
struct ClientStreams {
  /// The meaning of a frame on a stream.
  enum Verdict: Equatable {
    case allowed
    /// The frame follows the client's reset of the stream: a stream error.
    case behindReset
    /// The frame follows the end of the stream, or the client skipped its number: a connection error.
    case behindEnd
    /// The frame begins a stream with a lower number than an earlier stream: a connection error.
    case outOfOrder
  }

  /// The maximum length of `open`. It is limited because streams that the gateway has reset stay in it if the client
  /// never ends them.
  static let openLimit = 256
  /// The maximum length of `resets` and of `gaps`.
  private static let recentLimit = 16

  /// The highest stream that the client has begun.
  private var last: UInt32 = 0
  /// Streams that the client has begun and not ended, in ascending order.
  private var open: [UInt32] = []
  /// Streams up to this number may be open although `open` does not contain them.
  private var unknown: UInt32 = 0
  /// The streams that the client reset most recently.
  private var resets: [UInt32] = []
  /// The numbers that were most recently skipped when a later stream began.
  private var gaps: [Range<UInt32>] = []

  mutating func receivedHeaders(_ id: UInt32, endsStream: Bool) -> Verdict {
    guard id % 2 == 1 else { return .allowed }
    guard id > last else { return receivedMore(id, endsStream: endsStream, isHeaders: true) }
    if id > last + 2, last > 0 || id > 1 { keep(last + 1..<id) }
    last = id
    guard !endsStream else { return .allowed }
    open.append(id)
    if open.count > ClientStreams.openLimit { unknown = open.removeFirst() }
    return .allowed
  }

  mutating func receivedData(_ id: UInt32, endsStream: Bool) -> Verdict {
    // nghttp2 rejects a frame on a stream that has not begun.
    guard id % 2 == 1, id <= last else { return .allowed }
    return receivedMore(id, endsStream: endsStream, isHeaders: false)
  }

  mutating func receivedReset(_ id: UInt32) {
    guard id % 2 == 1, id <= last else { return }
    if let index = open.lastIndex(of: id) { open.remove(at: index) }
    if resets.count == ClientStreams.recentLimit { resets.removeFirst() }
    resets.append(id)
  }

  private mutating func receivedMore(_ id: UInt32, endsStream: Bool, isHeaders: Bool) -> Verdict {
    if let index = open.lastIndex(of: id) {
      if endsStream { open.remove(at: index) }
      return .allowed
    }
    if resets.contains(id) { return .behindReset }
    if isHeaders, gaps.contains(where: { $0.contains(id) }) { return .outOfOrder }
    return id <= unknown ? .allowed : .behindEnd
  }

  private mutating func keep(_ gap: Range<UInt32>) {
    if gaps.count == ClientStreams.recentLimit { gaps.removeFirst() }
    gaps.append(gap)
  }
}
