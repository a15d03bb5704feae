/// The reason why a connection is ended.
public enum HTTP2Failure: Error, Equatable, Sendable {
  /// The client does something that costs the server more than the client.
  case flood(HTTP2Flood)
  /// The input is not HTTP/2, nghttp2 is out of memory, or the client no longer receives. No GOAWAY is sent.
  case broken
}

/// Kinds of floods, as metrics name them.
public enum HTTP2Flood: String, CaseIterable, Sendable {
  /// Streams that are reset before their responses are complete.
  case resets
  /// Frames that carry no part of a request.
  case controlFrames = "control_frames"
  /// A field section that is split into too many frames.
  case continuations
  /// A field section that has too many fields or bytes when it is decoded.
  case fields
  /// Responses that wait for the client's credit while memory is short.
  case withheldCredit = "withheld_credit"
}

/// The error codes of RFC 9113, section 7, that the gateway itself uses.
public enum HTTP2ErrorCode: UInt32, Sendable {
  case none = 0
  case protocolError = 1
  case internalError = 2
  case streamClosed = 5
  case refusedStream = 7
  case cancel = 8
  case enhanceYourCalm = 11
}

/// The bytes sent to a client that is not served at all: the initial SETTINGS, and a GOAWAY without any stream (RFC
/// 9113, sections 3.4 and 6.8).
public enum HTTP2Refusal {
  /// An empty SETTINGS frame and a GOAWAY with ENHANCE_YOUR_CALM.
  public static let bytes: [UInt8] =
    [0, 0, 0, 4, 0, 0, 0, 0, 0] + [0, 0, 8, 7, 0, 0, 0, 0, 0] + [0, 0, 0, 0]
    + [0, 0, 0, UInt8(HTTP2ErrorCode.enhanceYourCalm.rawValue)]
}
