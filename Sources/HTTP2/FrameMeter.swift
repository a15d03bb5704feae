/// Counts the frames of a connection before nghttp2 sees them, and finds those that their stream's state forbids.
///
/// It walks from frame head to frame head (RFC 9113, section 4.1) and looks at nothing else but the stream that a priority
/// names. So floods of frames for which nghttp2 has no callback count too, and a batch that breaks the budget or the
/// protocol is not processed.
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
  /// The longest padding and its length field: a frame that is no longer may carry nothing.
  private static let paddingLimit = 256

  private let continuationLimit: Int
  /// Bytes to skip: of the client's preface, then of each frame's payload.
  private var skip = HTTP2Preface.bytes.count
  /// Of a frame's head: length, type and flags.
  private var head: UInt64 = 0
  /// The frame's stream.
  private var stream: UInt32 = 0
  private var streams = ClientStreams()
  /// Bytes of the payload up to the end of the stream on which a priority depends; 0 without one.
  private var dependency = 0
  private var dependsOn: UInt32 = 0
  /// The error with which the connection ends.
  private(set) var violation: HTTP2ErrorCode?
  /// Streams that the client has reset and on which it goes on sending.
  var late: [UInt32] = []
  private var headBytes = 0
  private var continuations = 0
  /// A field section has begun that is not whole: the client owes the rest of it.
  private(set) var isInFieldSection = false
  private var endsFieldSection = false

  init(_ limits: HTTP2Limits) {
    continuationLimit = limits.continuations
  }

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
        // The first bit is reserved.
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
      judge(streams.receivedData(stream, endsStream: endsStream))
      let mayBeEmpty = length == 0 || flags & Flag.padded != 0 && length <= FrameMeter.paddingLimit
      if mayBeEmpty, !endsStream {
        try budget.spendControlFrame()
      } else {
        budget.earnControlFrames()
      }
    case Kind.headers:
      judge(streams.receivedHeaders(stream, endsStream: endsStream))
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

  private mutating func judge(_ verdict: ClientStreams.Verdict) {
    switch verdict {
    case .allowed: break
    case .behindReset: late.append(stream)
    case .behindEnd: violation = .streamClosed
    case .outOfOrder: violation = .protocolError
    }
  }

  /// A stream cannot depend on itself (RFC 7540, section 5.3.1; RFC 9113 only deprecates what a priority means).
  private mutating func readDependency(_ byte: UInt8) {
    skip -= 1
    dependency -= 1
    // The length of a padding in front of it is shifted out.
    dependsOn = dependsOn << 8 | UInt32(byte)
    if dependency == 0, dependsOn & 0x7fff_ffff == stream { violation = .protocolError }
  }
}

/// What a client sends first (RFC 9113, section 3.4).
public enum HTTP2Preface {
  static let bytes = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  /// True if a connection that began with these bytes speaks HTTP/2; `nil` while that is open.
  public static func matches(_ received: Span<UInt8>) -> Bool? {
    for index in 0..<min(received.count, bytes.count) where received[index] != bytes[index] { return false }
    return received.count >= bytes.count ? true : nil
  }
}
