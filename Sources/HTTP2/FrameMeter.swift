/// Counts the frames of a connection before nghttp2 processes them, and detects frames that the state of their stream
/// forbids.
///
/// It reads only frame headers (RFC 9113, section 4.1) and the stream on which a priority depends. So it also counts
/// floods of frames for which nghttp2 has no callback, and nghttp2 never processes a batch of bytes that breaks the
/// budget or the protocol.
struct FrameMeter {
  private enum Kind {
    static let data: UInt8 = 0
    static let headers: UInt8 = 1
    static let priority: UInt8 = 2
    static let reset: UInt8 = 3
    static let continuation: UInt8 = 9
  }

  private enum Flag {
    static let endStream: UInt8 = 0x1
    static let endHeaders: UInt8 = 0x4
    static let padded: UInt8 = 0x8
    static let priority: UInt8 = 0x20
  }

  private static let headLength = 9
  /// The length of the longest padding with its length field: a padded DATA frame of at most this size may carry no
  /// data.
  private static let paddingLimit = 256

  private let continuationLimit: Int
  /// The number of bytes still to skip: first of the client's preface, then of the payload of each frame.
  private var skip = HTTP2Preface.bytes.count
  /// The length, type and flags of the current frame, as far as its header was read.
  private var head: UInt64 = 0
  /// The stream of the current frame.
  private var stream: UInt32 = 0
  private var streams = ClientStreams()
  /// The number of payload bytes still to read up to the end of the stream number on which the frame's priority
  /// depends; 0 if the frame has no priority or the number was read.
  private var dependency = 0
  /// The stream on which the priority depends, with the reserved bit.
  private var dependsOn: UInt32 = 0
  /// The protocol error that ends the connection.
  private(set) var violation: HTTP2ErrorCode?
  /// Streams on which the client has sent frames after it reset them, with one entry per frame.
  var usedAfterReset: [UInt32] = []
  /// The number of bytes of the current frame header that were read.
  private var headBytes = 0
  /// The number of CONTINUATION frames of the current field section.
  private var continuations = 0
  /// True if a field section has begun and is not complete.
  private(set) var isInFieldSection = false
  /// True if the current frame is the last of its field section.
  private var endsFieldSection = false

  init(_ limits: HTTP2Limits) {
    continuationLimit = limits.continuations
  }

  /// Counts the frames that begin in `bytes`. Sets `violation` at a protocol error and then ignores the rest. Throws if
  /// the budget is exceeded.
  mutating func count(_ bytes: Span<UInt8>, _ budget: inout FloodBudget) throws(HTTP2Failure) {
    var position = 0
    while position < bytes.count, violation == nil {
      if dependency > 0, skip > 0 {
        readDependency(bytes[position])
        position += 1
        if skip == 0 { endPayload() }
        continue
      }
      if skip > 0 {
        let count = min(skip, bytes.count - position)
        skip -= count
        position += count
        if skip == 0 { endPayload() }
        continue
      }
      if headBytes < 5 {
        head = head << 8 | UInt64(bytes[position])
      } else {
        stream = stream << 8 | UInt32(bytes[position])
      }
      headBytes += 1
      position += 1
      if headBytes == FrameMeter.headLength {
        // The first bit of the stream number is reserved.
        stream &= 0x7fff_ffff
        try begin(
          length: Int(head >> 16), type: UInt8(head >> 8 & 0xff), flags: UInt8(head & 0xff), &budget)
        head = 0
        headBytes = 0
        if skip == 0 { endPayload() }
      }
    }
  }

  private mutating func endPayload() {
    if endsFieldSection {
      endsFieldSection = false
      isInFieldSection = false
    }
  }

  private mutating func begin(
    length: Int, type: UInt8, flags: UInt8, _ budget: inout FloodBudget
  ) throws(HTTP2Failure) {
    skip = length
    dependency = 0
    let endsStream = flags & Flag.endStream != 0
    switch type {
    case Kind.data:
      apply(streams.receivedData(stream, endsStream: endsStream))
      let mayBeEmpty = length == 0 || flags & Flag.padded != 0 && length <= FrameMeter.paddingLimit
      if mayBeEmpty, !endsStream {
        try budget.spendControlFrame()
      } else {
        budget.earnControlFrames()
      }
    case Kind.headers:
      apply(streams.receivedHeaders(stream, endsStream: endsStream))
      if flags & Flag.priority != 0 { dependency = flags & Flag.padded != 0 ? 5 : 4 }
      budget.earnControlFrames()
      continuations = 0
      isInFieldSection = true
      endsFieldSection = flags & Flag.endHeaders != 0
    case Kind.continuation:
      continuations += 1
      guard continuations <= continuationLimit else { throw .flood(.continuations) }
      endsFieldSection = flags & Flag.endHeaders != 0
    case Kind.reset:
      streams.receivedReset(stream)
      try budget.spendReset()
    case Kind.priority:
      if stream == 0 { violation = .protocolError }
      if length == FrameMeter.priorityLength { dependency = 4 }
      try budget.spendControlFrame()
    default:
      try budget.spendControlFrame()
    }
  }

  private static let priorityLength = 5

  private mutating func apply(_ verdict: ClientStreams.Verdict) {
    switch verdict {
    case .allowed: break
    case .afterReset: usedAfterReset.append(stream)
    case .streamClosed: violation = .streamClosed
    case .outOfOrder: violation = .protocolError
    }
  }

  /// Reads one byte of the stream number on which a priority depends. A stream cannot depend on itself (RFC 7540,
  /// section 5.3.1); RFC 9113 deprecates only the meaning of priorities.
  private mutating func readDependency(_ byte: UInt8) {
    skip -= 1
    dependency -= 1
    // An earlier byte, the padding length, is shifted out.
    dependsOn = dependsOn << 8 | UInt32(byte)
    if dependency == 0, dependsOn & 0x7fff_ffff == stream { violation = .protocolError }
  }
}

/// The first bytes that a client sends (RFC 9113, section 3.4).
public enum HTTP2Preface {
  static let bytes = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  /// Returns true if a connection that began with these bytes speaks HTTP/2, false if it does not, `nil` while that is
  /// undecided.
  public static func matches(_ received: Span<UInt8>) -> Bool? {
    for index in 0..<min(received.count, bytes.count) where received[index] != bytes[index] { return false }
    return received.count >= bytes.count ? true : nil
  }
}
