/// The reason why a request or an upstream response is refused.
public struct MessageError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The status code of the response to a refused request. It is not used for a refused upstream response, for which
  /// the client gets 502.
  public let status: Int
  /// The reason as text, for logs and for the body of the response. It contains no text of the message.
  public let description: String
  /// The limit that the head exceeded, if any.
  public let limit: HeadLimit?

  /// Creates an error with the status code of the response.
  public init(status: Int, _ description: String, limit: HeadLimit? = nil) {
    self.status = status
    self.description = description
    self.limit = limit
  }

  /// The error for a head that exceeds `limits.bytes`: status 431 (RFC 6585, section 5).
  public static func headTooLong(_ limits: HeadLimits) -> MessageError {
    MessageError(status: 431, "a request head longer than \(limits.bytes) bytes", limit: .bytes)
  }

  static func targetTooLong(_ limits: HeadLimits) -> MessageError {
    MessageError(status: 414, "a request target longer than \(limits.target) bytes", limit: .target)
  }

  static func malformed(_ description: String) -> MessageError {
    MessageError(status: 400, description)
  }
}
