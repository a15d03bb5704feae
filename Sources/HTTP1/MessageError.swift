/// Why a message is refused. `description` is for logs and for the body of the answer: it never quotes the message.
public struct MessageError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What a server answers to such a request; from an upstream the answer is always 502.
  public let status: Int
  public let description: String
  /// Which limit of the head was exceeded, if one was.
  public let limit: HeadLimit?

  public init(status: Int, _ description: String, limit: HeadLimit? = nil) {
    self.status = status
    self.description = description
    self.limit = limit
  }

  /// The head is longer than is accepted.
  public static func tooLong(_ limits: HeadLimits) -> MessageError {
    MessageError(status: 431, "a request head longer than \(limits.bytes) bytes", limit: .bytes)
  }

  static func targetTooLong(_ limits: HeadLimits) -> MessageError {
    MessageError(status: 414, "a request target longer than \(limits.target) bytes", limit: .target)
  }

  static func malformed(_ description: String) -> MessageError {
    MessageError(status: 400, description)
  }
}
