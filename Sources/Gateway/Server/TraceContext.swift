internal import ByteText
import HTTP

/// The position of a request in a distributed trace (W3C Trace Context).
///
/// The gateway reports no spans of its own. So it forwards the trace of a request unchanged, as the specification
/// requires of a system that does not take part in the trace (section 3.4), and starts a trace if the request has none.
struct TraceContext {
  /// The `traceparent` field: version, trace id, parent id and flags (section 3.2).
  let parent: String
  /// The `tracestate` field; `nil` if the request has none, or one that is longer than the specification requires to
  /// forward (section 3.3.1.5).
  let state: String?

  /// The id of the whole trace: 32 lower-case hexadecimal digits.
  var traceID: String { String(validating: parent.utf8.span.extracting(3..<35)) ?? "" }

  private static let maximumStateLength = 512
  private static let versionZeroLength = 55

  /// Reads the trace of a request; `nil` if the field is missing, repeated or invalid.
  init?(of headers: Headers) {
    guard let parent = headers.onlyValue(of: "traceparent"), TraceContext.isValid(parent.utf8.span) else { return nil }
    self.parent = parent
    let states = headers.all("tracestate")
    let state = states.joined(separator: ",")
    self.state = states.isEmpty || state.utf8.count > TraceContext.maximumStateLength ? nil : state
  }

  /// Starts a trace with random ids. The flag `sampled` is set: without it, most servers would stop to record the
  /// requests that the gateway sends them.
  ///
  /// - Parameter bytes: 24 random bytes: the ids of the trace and of the parent.
  init(starting bytes: [UInt8]) {
    var bytes = bytes
    // Ids of zeros are invalid (sections 3.2.2.3 and 3.2.2.4).
    bytes[15] |= 1
    bytes[23] |= 1
    var text: [UInt8] = []
    text.append(addingCapacity: TraceContext.versionZeroLength) { output in
      output.append("00-")
      Hex.encode(bytes.span.extracting(0..<16), to: &output)
      output.append(.dash)
      Hex.encode(bytes.span.extracting(16..<24), to: &output)
      output.append("-01")
    }
    parent = String(decoding: text, as: UTF8.self)
    state = nil
  }

  /// Sets the fields of a request to the upstream.
  func set(in headers: inout Headers) {
    headers.set("traceparent", parent)
    headers.remove("tracestate")
    if let state { headers.append("tracestate", state) }
  }

  /// Returns true for a valid `traceparent`. A higher version may have more members after the flags (section 3.2.4).
  private static func isValid(_ text: Span<UInt8>) -> Bool {
    guard text.count >= versionZeroLength, text.count <= RequestReference.maximumLength,
      text[2] == .dash, text[35] == .dash, text[52] == .dash,
      isHex(text, 0..<2), isHex(text, 3..<35), isHex(text, 36..<52), isHex(text, 53..<55),
      !(text[0] == .f && text[1] == .f), !isZero(text, 3..<35), !isZero(text, 36..<52)
    else { return false }
    if text[0] == .zero, text[1] == .zero { return text.count == versionZeroLength }
    return text.count == versionZeroLength || text[55] == .dash
  }

  private static func isHex(_ text: Span<UInt8>, _ range: Range<Int>) -> Bool {
    for index in range {
      switch text[index] {
      case 0x30...0x39, 0x61...0x66: continue
      default: return false
      }
    }
    return true
  }

  private static func isZero(_ text: Span<UInt8>, _ range: Range<Int>) -> Bool {
    for index in range where text[index] != .zero { return false }
    return true
  }
}

extension UInt8 {
  fileprivate static let dash: UInt8 = 0x2d
  fileprivate static let zero: UInt8 = 0x30
  fileprivate static let f: UInt8 = 0x66
}
