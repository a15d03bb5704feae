/// The reason why an encoded body cannot be decoded.
public enum CompressionError: Error, Equatable, Sendable, CustomStringConvertible {
  /// A content coding other than gzip and deflate, or more than one coding.
  case unsupported
  /// The body is damaged, or does not use the content coding that the message names.
  case malformed
  /// The body ends too early.
  case truncated
  /// The decoded body is longer than the caller permits. Or it is longer than `Decoder.lengthWithoutRatioLimit` bytes
  /// and also longer than `Decoder.ratioLimit` times the encoded body.
  case tooLarge
  /// zlib could not allocate memory.
  case outOfMemory

  /// A noun phrase for a message, e.g. "an encoded body that is damaged".
  public var description: String {
    switch self {
    case .unsupported: "a content coding other than gzip and deflate"
    case .malformed: "an encoded body that is damaged"
    case .truncated: "an encoded body that is truncated"
    case .tooLarge: "an encoded body that decodes to too many bytes"
    case .outOfMemory: "no memory to decode a body"
    }
  }
}
