/// Counts the frames that a client sends, and detects frames that the state of their stream forbids.
///
/// It reads the received bytes before nghttp2 processes them, and so also counts frames for which nghttp2 has no
/// callback. If a frame exceeds the budget or violates the protocol, the session does not pass the bytes to nghttp2.
///
/// Of each frame, only the header (RFC 9113, section 4.1) is read and, if there is a priority, its dependency: the
/// number of the stream on which the frame's stream depends (RFC 7540, section 5.3.1).
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

  private static let frameHeaderLength = 9
  /// The length of the longest padding together with its length field, in bytes. A padded DATA frame may contain only
  /// padding if its payload is not longer than this.
  private static let paddingLimit = 256

  private let continuationLimit: Int
  /// The number of bytes still to skip: at first those of the client's preface, later those of each frame's payload.
  private var bytesToSkip = HTTP2Preface.bytes.count
  /// The length (24 bits), type (8) and flags (8) of the current frame, as far as its header was read.
  private var lengthTypeFlags: UInt64 = 0
  /// The stream of the current frame.
  private var stream: UInt32 = 0
  private var streams = ClientStreams()
  /// The number of payload bytes still to read until the dependency is complete; 0 if the frame has no priority or the
  /// dependency is complete.
  private var dependencyBytesLeft = 0
  /// The dependency of the current frame: the exclusive bit and a stream number.
  private var dependency: UInt32 = 0
  /// The protocol error that ends the connection.
  private(set) var violation: HTTP2ErrorCode?
  /// The streams on which the client has sent frames after it reset them, with one entry per frame.
  var streamsUsedAfterReset: [UInt32] = []
  /// The number of bytes of the current frame header that were read.
  private var frameHeaderBytes = 0
  /// The number of CONTINUATION frames of the current field section.
  private var continuations = 0
  /// True if a field section has begun and is not complete.
  private(set) var isInFieldSection = false
  /// True if the current frame is the last of its field section.
  private var endsFieldSection = false

  init(_ limits: HTTP2Limits) {
    continuationLimit = limits.continuations
  }

  /// Counts each frame whose frame header (the first nine bytes of the frame) ends in `bytes`. At a protocol error,
  /// sets `violation` and ignores the rest. Throws if the client exceeds the budget.
  mutating func countFrames(in bytes: Span<UInt8>, _ budget: inout FloodBudget) throws(HTTP2Failure) {
    var position = 0
    while position < bytes.count, violation == nil {
      if dependencyBytesLeft > 0, bytesToSkip > 0 {
        readDependency(bytes[position])
        position += 1
        if bytesToSkip == 0 { endPayload() }
        continue
      }
      if bytesToSkip > 0 {
        let count = min(bytesToSkip, bytes.count - position)
        bytesToSkip -= count
        position += count
        if bytesToSkip == 0 { endPayload() }
        continue
      }
      if frameHeaderBytes == 0, bytes.count - position >= FrameMeter.frameHeaderLength {
        readFrameHeader(bytes.extracting(position..<position + FrameMeter.frameHeaderLength))
        position += FrameMeter.frameHeaderLength
      } else {
        readFrameHeaderByte(bytes[position])
        position += 1
      }
      if frameHeaderBytes == FrameMeter.frameHeaderLength {
        // The first bit of the stream number is reserved.
        stream &= 0x7fff_ffff
        try beginPayload(
          length: Int(truncatingIfNeeded: lengthTypeFlags >> 16), type: UInt8(truncatingIfNeeded: lengthTypeFlags >> 8),
          flags: UInt8(truncatingIfNeeded: lengthTypeFlags), &budget)
        lengthTypeFlags = 0
        frameHeaderBytes = 0
        if bytesToSkip == 0 { endPayload() }
      }
    }
  }

  /// Reads a whole frame header at once.
  private mutating func readFrameHeader(_ bytes: Span<UInt8>) {
    let length = UInt64(bytes[0]) << 16 | UInt64(bytes[1]) << 8 | UInt64(bytes[2])
    lengthTypeFlags = length << 16 | UInt64(bytes[3]) << 8 | UInt64(bytes[4])
    stream = UInt32(bytes[5]) << 24 | UInt32(bytes[6]) << 16 | UInt32(bytes[7]) << 8 | UInt32(bytes[8])
    frameHeaderBytes = FrameMeter.frameHeaderLength
  }

  /// Reads the next byte of a frame header that arrives in parts.
  private mutating func readFrameHeaderByte(_ byte: UInt8) {
    if frameHeaderBytes < 5 {
      lengthTypeFlags = lengthTypeFlags << 8 | UInt64(byte)
    } else {
      stream = stream << 8 | UInt32(byte)
    }
    frameHeaderBytes += 1
  }

  private mutating func endPayload() {
    if endsFieldSection {
      endsFieldSection = false
      isInFieldSection = false
    }
  }

  private mutating func beginPayload(
    length: Int, type: UInt8, flags: UInt8, _ budget: inout FloodBudget
  ) throws(HTTP2Failure) {
    bytesToSkip = length
    dependencyBytesLeft = 0
    let endsStream = flags & Flag.endStream != 0
    switch type {
    case Kind.data:
      apply(streams.receivedData(stream, endsStream: endsStream))
      let mayBeEmpty = length == 0 || flags & Flag.padded != 0 && length <= FrameMeter.paddingLimit
      if mayBeEmpty, !endsStream {
        try budget.spendControlFrame()
      } else {
        budget.allowMoreControlFrames()
      }
    case Kind.headers:
      apply(streams.receivedHeaders(stream, endsStream: endsStream))
      if flags & Flag.priority != 0 { dependencyBytesLeft = flags & Flag.padded != 0 ? 5 : 4 }
      budget.allowMoreControlFrames()
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
      if length == FrameMeter.priorityLength { dependencyBytesLeft = 4 }
      try budget.spendControlFrame()
    default:
      try budget.spendControlFrame()
    }
  }

  /// The length of the payload of a valid PRIORITY frame, in bytes.
  private static let priorityLength = 5

  private mutating func apply(_ verdict: ClientStreams.Verdict) {
    switch verdict {
    case .allowed: break
    case .afterReset: streamsUsedAfterReset.append(stream)
    case .streamClosed: violation = .streamClosed
    case .outOfOrder: violation = .protocolError
    }
  }

  /// Reads one payload byte in front of or within the dependency. A stream must not depend on itself (RFC 7540, section
  /// 5.3.1; RFC 9113 deprecates these priorities).
  private mutating func readDependency(_ byte: UInt8) {
    bytesToSkip -= 1
    dependencyBytesLeft -= 1
    // A byte in front of the dependency (the padding length) is shifted out.
    dependency = dependency << 8 | UInt32(byte)
    if dependencyBytesLeft == 0, dependency & 0x7fff_ffff == stream { violation = .protocolError }
  }
}

/// The first bytes that a client sends (RFC 9113, section 3.4).
public enum HTTP2Preface {
  static let bytes = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  /// Returns true if the first bytes of a connection, `received`, begin with the preface, and false if they differ from
  /// it. Returns `nil` if more bytes are needed to decide.
  public static func matches(_ received: Span<UInt8>) -> Bool? {
    for index in 0..<min(received.count, bytes.count) where received[index] != bytes[index] { return false }
    return received.count >= bytes.count ? true : nil
  }
}
