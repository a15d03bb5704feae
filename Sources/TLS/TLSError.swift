/// The reason why TLS settings cannot be used.
public struct TLSError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The problem as a phrase without a capital letter at its start.
  public let description: String

  init(_ description: String) {
    self.description = description
  }
}
