/// The limits on the size of a request head. The gateway keeps a head in memory until the head is complete. No browser
/// exceeds the default limits.
public struct HeadLimits: Sendable {
  /// The maximum number of bytes of the whole head, including its empty line.
  public var bytes: Int
  /// The maximum number of header fields.
  public var fields: Int
  /// The maximum number of bytes of the request target.
  public var target: Int
  /// True to accept a request target with `"`, `<`, `>` or bytes from 0x80, which RFC 3986 permits only in
  /// percent-encoded form (`RequestHead.hasUnencodedTarget`). Such a target has the same end for every server.
  public var acceptsUnencodedTargets = false

  /// Creates limits.
  ///
  /// - Parameter bytes: At most 16 KiB, because a receive buffer has room for a head of at most this length.
  public init(bytes: Int = 16 * 1024, fields: Int = HeadIndex.fieldLimit, target: Int = 8 * 1024) {
    self.bytes = bytes
    self.fields = fields
    self.target = target
  }

  /// The default limits: 16 KiB, 100 fields, and 8 KiB for the target.
  public static let standard = HeadLimits()
}

/// The limit of `HeadLimits` that a request head exceeds.
public enum HeadLimit: Sendable {
  case bytes
  case fields
  case target
}
