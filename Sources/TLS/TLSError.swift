/// An error for TLS settings that cannot be used.
public struct TLSError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The problem, in lower case.
  public let description: String

  init(_ description: String) {
    self.description = description
  }
}
