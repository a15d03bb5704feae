/// The reason why a connection is ended.
public enum HTTP2Failure: Error, Equatable, Sendable {
  /// The client sends something that costs the server much more than the client.
  case flood(HTTP2Flood)
  /// The input is not HTTP/2, nghttp2 is out of memory, the socket has failed, or the client receives too slowly. No
  /// GOAWAY is sent.
  case broken
}

/// The kinds of floods. The raw values are the names in metrics.
public enum HTTP2Flood: String, CaseIterable, Sendable {
  /// Streams that are reset before their responses are complete.
  case resets
  /// Frames that carry no part of a request.
  case controlFrames = "control_frames"
  /// A field section in too many CONTINUATION frames.
  case continuations
  /// A field section with too many fields or bytes after decoding.
  case fields
  /// Responses that the client does not accept, because it grants no flow-control credit, while memory is short.
  case withheldCredit = "withheld_credit"
}

/// The error codes of RFC 9113, section 7, that the gateway itself uses.
public enum HTTP2ErrorCode: UInt32, Sendable {
  case noError = 0
  case protocolError = 1
  case internalError = 2
  case streamClosed = 5
  case refusedStream = 7
  case cancel = 8
  case enhanceYourCalm = 11
}

/// The response to a connection that the gateway refuses (RFC 9113, sections 3.4 and 6.8).
public enum HTTP2Refusal {
  /// An empty SETTINGS frame, and a GOAWAY with the last stream number 0 and the error code ENHANCE_YOUR_CALM.
  public static let bytes: [UInt8] =
    [0, 0, 0, 4, 0, 0, 0, 0, 0] + [0, 0, 8, 7, 0, 0, 0, 0, 0] + [0, 0, 0, 0]
    + [0, 0, 0, UInt8(HTTP2ErrorCode.enhanceYourCalm.rawValue)]
}
