/// What a client has said of its streams, so that a frame behind the end of one is recognised (RFC 9113, section 5.1).
///
/// nghttp2 forgets a stream as soon as it is closed and ignores what comes for it then, because a frame may have been on
/// its way when the server reset the stream. Here only the client's side counts: a stream that the client has not ended
/// stays open, whatever the gateway does with it, so frames in flight behind the gateway's own reset are no errors.
struct ClientStreams {
  /// What a frame on a stream means.
  enum Verdict: Equatable {
    case allowed
    /// The client has reset the stream: a stream error.
    case behindReset
    /// The client has ended the stream, or passed it over: a connection error.
    case behindEnd
    /// A stream begins whose number is lower than that of an earlier one: a connection error.
    case outOfOrder
  }

  /// Streams that the gateway reset stay open here if the client never ends them, so their number is bounded.
  static let openLimit = 256
  private static let recentLimit = 16

  /// The last stream that began.
  private var last: UInt32 = 0
  /// Streams that the client has begun and not ended, in ascending order.
  private var open: [UInt32] = []
  /// Of the streams up to this one, some that are open may be missing in `open`.
  private var unknown: UInt32 = 0
  /// The streams that the client reset most recently.
  private var resets: [UInt32] = []
  /// Numbers that were passed over when a later stream began, most recently.
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
    // One that has not begun is nghttp2's to refuse.
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
