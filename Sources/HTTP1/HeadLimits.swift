/// How long a request head may be. Beyond it stands what no browser sends; each byte is kept while the head is incomplete.
public struct HeadLimits: Sendable {
  /// Of the whole head, with its empty line.
  public var bytes: Int
  public var fields: Int
  /// Of the request target.
  public var target: Int

  /// - Parameter bytes: at most what one buffer receives.
  public init(bytes: Int = 16 * 1024, fields: Int = HeadIndex.fieldLimit, target: Int = 8 * 1024) {
    self.bytes = bytes
    self.fields = fields
    self.target = target
  }

  public static let standard = HeadLimits()
}

/// The limit of a head that was exceeded.
public enum HeadLimit: Sendable {
  case bytes
  case fields
  case target
}
