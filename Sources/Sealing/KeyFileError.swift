/// An error that lists all problems of a key file.
public struct KeyFileError: Error, Hashable, Sendable, CustomStringConvertible {
  /// One problem of a key file and its position.
  public struct Problem: Hashable, Sendable, CustomStringConvertible {
    /// The line number, from 1.
    public let line: Int
    /// The column in bytes, from 1.
    public let column: Int
    /// The problem in words. It never contains a key.
    public let message: String

    /// The problem in the form `line:column: message`.
    public var description: String { "\(line):\(column): \(message)" }
  }

  /// The problems in the order of the file, at least one.
  public let problems: [Problem]

  /// The problems, one per line.
  public var description: String { problems.map(\.description).joined(separator: "\n") }
}
