/// The limits of one HTTP/2 connection. Defaults are far above legitimate use.
public struct HTTP2Limits: Sendable, Equatable {
  /// The maximum number of concurrent requests. RFC 9113, section 6.5.2 recommends at least 100; each holds a task and
  /// buffers.
  public var concurrentStreams = 100
  /// The maximum memory, in bytes, of request bodies waiting for the upstream. The connection's credit is withheld so
  /// that it is never exceeded. Together with the memory of responses it stays below 1 MiB.
  public var bufferedBodies = 544 * 1024
  /// The number of bytes of a request that are still accepted after its response no longer needs them. Some clients
  /// lose a response if a reset follows immediately, as HTTP/1.1 clients do after a reset of the connection.
  public var discardedBytes = 256 * 1024
  /// The memory of responses, in bytes, above which a stream may keep only `crowdedResponse` until the client reads.
  public var bufferedResponses = 256 * 1024
  /// The number of response bytes that every stream may keep, so that each makes progress on a crowded connection.
  public var crowdedResponse = 2 * 1024
  /// The number of streams that may end before their response in one burst: a browser that leaves a page cancels up to
  /// `concurrentStreams` requests. A reset costs the sender one frame and the upstream a request (CVE-2023-44487),
  /// also if the client makes the server send it (CVE-2025-8671).
  public var resets = 100
  /// The number of resets allowed per second beyond the burst.
  public var resetsPerSecond = 10
  /// The number of frames without any part of a request that are allowed in one burst: PING, SETTINGS, PRIORITY,
  /// WINDOW_UPDATE, empty DATA, and unknown types. Each request and each DATA frame earns some, because they come with
  /// such frames.
  public var controlFrames = 1_000
  /// The number of control frames allowed per second beyond the burst.
  public var controlFramesPerSecond = 50
  /// The maximum number of CONTINUATION frames of one field section (CVE-2024-28182): a section of acceptable size
  /// fits into one frame.
  public var continuations = 8
  /// The number of fields of one section that are decoded before the connection is ended: an indexed field costs the
  /// sender one byte and the receiver the whole field.
  public var decodedFields = 1_000
  /// The number of bytes of one section that are decoded before the connection is ended.
  public var decodedBytes = 256 * 1024

  /// The default limits.
  public init() {}
}
