/// A coded body that cannot be read.
public enum CompressionError: Error, Equatable, Sendable, CustomStringConvertible {
  /// A coding other than gzip and deflate, or several.
  case unsupported
  /// Not what the coding says, or damaged.
  case malformed
  /// The body ends in front of the end of its coding.
  case truncated
  /// More bytes than may be read whole, or more than a body of its length may hold.
  case tooLarge
  case outOfMemory

  public var description: String {
    switch self {
    case .unsupported: "a content coding other than gzip and deflate"
    case .malformed: "a coded body that is damaged"
    case .truncated: "a coded body that ends too early"
    case .tooLarge: "a coded body that holds too much"
    case .outOfMemory: "no memory for a coded body"
    }
  }
}
