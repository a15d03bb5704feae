/// What one HTTP/2 connection may cost. Each value is one that no client in earnest comes near.
public struct HTTP2Limits: Sendable, Equatable {
  /// Requests in progress at once. RFC 9113, section 6.5.2 recommends no fewer than 100; each holds a task and buffers.
  public var concurrentStreams = 100
  /// Memory of request bodies that are kept until the upstream takes them. The connection's credit is withheld so that it
  /// is never exceeded. With that of responses it stays under 1 MiB.
  public var bufferedBodies = 544 * 1024
  /// Bytes of a request that are still taken once its response needs them no more. Some clients lose a response that a
  /// reset follows at once, as HTTP/1.1 ones lose theirs to a reset of the connection.
  public var discardedBytes = 256 * 1024
  /// Memory of responses beyond which a stream may keep only `crowdedResponse` until the client reads.
  public var bufferedResponses = 256 * 1024
  /// Bytes of response that every stream may keep, so that each makes progress on a crowded connection.
  public var crowdedResponse = 2 * 1024
  /// Streams that may end before their response does, in one go: a browser that leaves a page cancels what it had asked
  /// for, up to `concurrentStreams`. A reset costs the sender one frame and the upstream a request (CVE-2023-44487), also
  /// when the sender makes the server send it (CVE-2025-8671).
  public var resets = 100
  /// Resets forgiven for each second.
  public var resetsPerSecond = 10
  /// Frames that carry nothing of a request, in one go: PING, SETTINGS, PRIORITY, WINDOW_UPDATE, empty DATA, unknown ones.
  /// Each request and each DATA frame earns some, because they bring such frames with them.
  public var controlFrames = 1_000
  /// Control frames forgiven for each second.
  public var controlFramesPerSecond = 50
  /// CONTINUATION frames of one field section (CVE-2024-28182): a section that is accepted fits into one frame.
  public var continuations = 8
  /// Fields of one section that are decoded before the connection is ended: an indexed field costs the sender a byte and
  /// the receiver the whole field.
  public var decodedFields = 1_000
  /// Bytes of one section that are decoded before the connection is ended.
  public var decodedBytes = 256 * 1024

  public init() {}
}
