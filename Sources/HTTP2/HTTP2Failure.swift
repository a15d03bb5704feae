/// Why a connection is ended.
public enum HTTP2Failure: Error, Equatable, Sendable {
  /// The client sends what costs the server more than itself.
  case flood(HTTP2Flood)
  /// What came is not HTTP/2, or nghttp2 is out of memory. Nothing more can be sent.
  case broken
}

/// Kinds of floods, as metrics name them.
public enum HTTP2Flood: String, CaseIterable, Sendable {
  /// Streams that end before their responses.
  case resets
  /// Frames that carry nothing of a request.
  case controlFrames = "control_frames"
  /// A field section in very many frames.
  case continuations
  /// A field section that grows without end when it is decoded.
  case fields
  /// Responses that wait for credit while memory is short.
  case withheldCredit = "withheld_credit"
}

/// Error codes of RFC 9113, section 7, that the gateway itself uses.
public enum HTTP2ErrorCode: UInt32, Sendable {
  case none = 0
  case protocolError = 1
  case internalError = 2
  case streamClosed = 5
  case refusedStream = 7
  case cancel = 8
  case enhanceYourCalm = 11
}

/// What a client gets that is not served at all: the SETTINGS that come first, and a GOAWAY without any stream (RFC 9113,
/// sections 3.4 and 6.8).
public enum HTTP2Refusal {
  public static let bytes: [UInt8] =
    [0, 0, 0, 4, 0, 0, 0, 0, 0] + [0, 0, 8, 7, 0, 0, 0, 0, 0] + [0, 0, 0, 0]
    + [0, 0, 0, UInt8(HTTP2ErrorCode.enhanceYourCalm.rawValue)]
}
