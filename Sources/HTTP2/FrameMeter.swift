/// Counts the frames of a connection before nghttp2 sees them.
///
/// It walks from frame head to frame head (RFC 9113, section 4.1) and looks at nothing but type, flags and length. So
/// floods of frames for which nghttp2 has no callback count too, and a batch that breaks the budget is not processed.
struct FrameMeter {
  private enum Kind {
    static let data: UInt8 = 0
    static let headers: UInt8 = 1
    static let reset: UInt8 = 3
    static let continuation: UInt8 = 9
  }

  private enum Flag {
    static let endStream: UInt8 = 0x1
    static let endHeaders: UInt8 = 0x4
    static let padded: UInt8 = 0x8
  }

  private static let headLength = 9
  /// The longest padding and its length field: a frame that is no longer may carry nothing.
  private static let paddingLimit = 256

  private let continuationLimit: Int
  /// Bytes to skip: of the client's preface, then of each frame's payload.
  private var skip = HTTP2Preface.bytes.count
  /// Of a frame's head: length, type and flags.
  private var head: UInt64 = 0
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
    while position < bytes.count {
      if skip > 0 {
        let count = min(skip, bytes.count - position)
        skip -= count
        position += count
        if skip == 0 { endPayload() }
        continue
      }
      if headBytes < 5 { head = head << 8 | UInt64(bytes[position]) }
      headBytes += 1
      position += 1
      if headBytes == FrameMeter.headLength {
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
    switch type {
    case Kind.data:
      let mayBeEmpty = length == 0 || flags & Flag.padded != 0 && length <= FrameMeter.paddingLimit
      if mayBeEmpty, flags & Flag.endStream == 0 {
        try budget.spendControlFrame()
      } else {
        budget.earnControlFrames()
      }
    case Kind.headers:
      budget.earnControlFrames()
      continuations = 0
      isInFieldSection = true
      endsFieldSection = flags & Flag.endHeaders != 0
    case Kind.continuation:
      continuations += 1
      guard continuations <= continuationLimit else { throw .flood(.continuations) }
      endsFieldSection = flags & Flag.endHeaders != 0
    case Kind.reset:
      try budget.spendReset()
    default:
      try budget.spendControlFrame()
    }
  }
}

/// What a client sends first (RFC 9113, section 3.4).
public enum HTTP2Preface {
  static let bytes = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  /// Whether a connection that began with these bytes speaks HTTP/2; `nil` while that is open.
  public static func matches(_ received: Span<UInt8>) -> Bool? {
    for index in 0..<min(received.count, bytes.count) where received[index] != bytes[index] { return false }
    return received.count >= bytes.count ? true : nil
  }
}
