/// Why a message is refused. `description` is for logs and for the body of the answer: it never quotes the message.
public struct MessageError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What a server answers to such a request; from an upstream the answer is always 502.
  public let status: Int
  public let description: String

  public init(status: Int, _ description: String) {
    self.status = status
    self.description = description
  }

  static func malformed(_ description: String) -> MessageError {
    MessageError(status: 400, description)
  }
}
