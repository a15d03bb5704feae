/// The size limits of a request head. No browser exceeds them. The gateway keeps an incomplete head in memory.
public struct HeadLimits: Sendable {
  /// The maximum number of bytes of the whole head, including its empty line.
  public var bytes: Int
  /// The maximum number of header fields.
  public var fields: Int
  /// The maximum number of bytes of the request target.
  public var target: Int

  /// Creates limits.
  ///
  /// - Parameter bytes: at most the number of bytes that one buffer receives (16 KiB).
  public init(bytes: Int = 16 * 1024, fields: Int = HeadIndex.fieldLimit, target: Int = 8 * 1024) {
    self.bytes = bytes
    self.fields = fields
    self.target = target
  }

  /// The default limits: 16 KiB, 100 fields, and 8 KiB for the target.
  public static let standard = HeadLimits()
}

/// The limit of a head that a request exceeded.
public enum HeadLimit: Sendable {
  case bytes
  case fields
  case target
}
