/// The limits of one HTTP/2 connection. The defaults are far above legitimate use.
public struct HTTP2Limits: Sendable, Equatable {
  /// The maximum number of concurrent requests. RFC 9113, section 6.5.2 recommends at least 100. Each request holds a
  /// task and buffers.
  public var concurrentStreams = 100
  /// The maximum memory, in bytes, of request bodies that the upstream has not accepted yet. The gateway withholds
  /// flow-control credit of the connection (RFC 9113, section 5.2) so that it is never exceeded. Together with the
  /// memory of responses it stays below 1 MiB.
  public var bufferedBodies = 544 * 1024
  /// The number of bytes of a request that are still accepted after its response no longer needs them. Some clients
  /// lose a response if the stream is reset immediately afterwards, as HTTP/1.1 clients do if the connection is.
  public var discardedBytes = 256 * 1024
  /// The memory of all buffered responses, in bytes, from which on a stream may buffer no more than `crowdedResponse`.
  public var bufferedResponses = 256 * 1024
  /// The number of response bytes that every stream may buffer, so that each makes progress even if `bufferedResponses`
  /// is reached.
  public var crowdedResponse = 2 * 1024
  /// The number of resets that are allowed in one burst: a browser that leaves a page cancels up to `concurrentStreams`
  /// requests. A reset costs the sender one frame and the upstream a request (CVE-2023-44487), also if the client makes
  /// the server send the reset (CVE-2025-8671).
  public var streamResets = 100
  /// The number of resets allowed per second beyond the burst.
  public var resetsPerSecond = 10
  /// The number of control frames that are allowed in one burst. These carry no part of a request: PING, SETTINGS,
  /// PRIORITY, WINDOW_UPDATE, empty DATA, and unknown types. Each HEADERS or DATA frame, in either direction, earns
  /// some more, because it comes with such frames.
  public var controlFrames = 1_000
  /// The number of control frames allowed per second beyond the burst.
  public var controlFramesPerSecond = 50
  /// The maximum number of CONTINUATION frames of one field section (CVE-2024-28182). A section of acceptable size fits
  /// into one frame.
  public var continuations = 8
  /// The maximum number of fields of one section. If more are decoded, the connection is ended: an indexed field costs
  /// the sender one byte and the receiver the whole field.
  public var decodedFields = 1_000
  /// The maximum number of bytes of names and values of one section. If more are decoded, the connection is ended.
  public var decodedBytes = 256 * 1024

  /// The default limits.
  public init() {}
}
