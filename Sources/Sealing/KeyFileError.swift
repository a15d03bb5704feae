/// All that is wrong with a key file.
public struct KeyFileError: Error, Hashable, Sendable, CustomStringConvertible {
  public struct Problem: Hashable, Sendable, CustomStringConvertible {
    /// From 1.
    public let line: Int
    /// From 1, in bytes.
    public let column: Int
    /// Never quotes a key.
    public let message: String

    public var description: String { "\(line):\(column): \(message)" }
  }

  /// In file order, at least one.
  public let problems: [Problem]

  public var description: String { problems.map(\.description).joined(separator: "\n") }
}
