/// The limits of one HTTP/2 connection. The defaults are far above legitimate use.
public struct HTTP2Limits: Sendable, Equatable {
  /// The maximum number of concurrent requests. RFC 9113, section 6.5.2 recommends at least 100. Each request holds a
  /// task and buffers.
  public var concurrentStreams = 100
  /// The maximum memory, in bytes, of request bodies that the upstream has not accepted yet. To enforce it, the gateway
  /// withholds flow-control credit of the connection (RFC 9113, section 5.2). This memory and that of the buffered
  /// responses are together less than 1 MiB.
  public var bufferedBodies = 544 * 1024
  /// The number of bytes of a request that the gateway still accepts, and discards, when it no longer needs the rest of
  /// the request. Some clients lose the response if the gateway resets the stream immediately after it.
  public var discardedBytes = 256 * 1024
  /// A number of bytes. While all buffered responses together occupy at least this much memory, each stream may buffer
  /// only `reducedResponseBuffer` bytes of its response.
  public var bufferedResponses = 256 * 1024
  /// The number of response bytes that every stream may buffer even while all responses together occupy
  /// `bufferedResponses` or more. So every response makes progress.
  public var reducedResponseBuffer = 2 * 1024
  /// The number of resets that are allowed in one burst: a browser that leaves a page cancels up to `concurrentStreams`
  /// requests. There is a limit because the client can begin and reset many requests at little cost, and the upstream
  /// has to process them (CVE-2023-44487). A reset that the gateway sends counts too, if the client has caused it with
  /// a malformed request or a protocol error (CVE-2025-8671).
  public var streamResets = 100
  /// The number of resets allowed per second beyond the burst.
  public var resetsPerSecond = 10
  /// The number of control frames that are allowed in one burst. A control frame carries no part of a request: PING,
  /// SETTINGS, PRIORITY, WINDOW_UPDATE, empty DATA, and unknown types. Each HEADERS frame and each DATA frame with
  /// content, in either direction, allows four more, because clients send control frames together with these.
  public var controlFrames = 1_000
  /// The number of control frames allowed per second beyond the burst.
  public var controlFramesPerSecond = 50
  /// The maximum number of CONTINUATION frames of one field section (CVE-2024-28182). A section of acceptable size fits
  /// into one frame.
  public var continuations = 8
  /// The maximum number of fields of one field section. If a section has more, the connection is ended: the client
  /// needs only one byte to send a field from the HPACK table, and the gateway has to decode the whole field.
  public var decodedFields = 1_000
  /// The maximum number of bytes of the names and values in one field section. If a section has more, the connection is
  /// ended. It is four times the size that SETTINGS_MAX_HEADER_LIST_SIZE announces. A section between the two sizes gets
  /// 431, and counts like a reset (`streamResets`): to send it may cost the client a few bytes, and to decode it the
  /// gateway 100 times the work of a normal request.
  public var decodedBytes = 64 * 1024

  /// The default limits.
  public init() {}
}
