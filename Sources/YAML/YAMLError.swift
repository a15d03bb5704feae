/// The reason why this module does not accept a file, with the position of the problem.
public struct YAMLError: Error, Equatable, Sendable, CustomStringConvertible {
  /// A feature of YAML that is refused, a syntax error, or a limit that the file exceeds.
  public enum Problem: Equatable, Sendable {
    /// A syntax error. The text is that of libyaml, e.g. `did not find expected key`, or a simpler one.
    case syntax(String)
    /// An anchor with this name.
    case anchor(String)
    /// An alias with this name.
    case alias(String)
    /// A tag; the text is the full tag.
    case tag(String)
    /// A `%TAG` directive.
    case directive
    /// The merge key `<<`.
    case mergeKey
    /// A second document in the file.
    case secondDocument
    /// A file without a value.
    case emptyDocument
    /// A key that is a sequence or a mapping.
    case keyIsNotText
    /// A key that occurs twice in a mapping; `first` is the position of the first occurrence.
    case duplicateKey(String, first: YAMLMark)
    /// More levels of nesting than `limit`.
    case tooDeep(limit: Int)
    /// More nodes (scalars, sequences and mappings) than `limit`.
    case tooManyNodes(limit: Int)
    /// More bytes than `limit`.
    case tooLong(limit: Int)
    /// libyaml could not allocate memory.
    case outOfMemory
  }

  /// The name of the file, as the caller gave it.
  public let file: String
  /// The position of the problem.
  public let mark: YAMLMark
  /// The problem itself.
  public let problem: Problem

  /// Creates an error at a position in a file.
  public init(file: String, mark: YAMLMark, problem: Problem) {
    self.file = file
    self.mark = mark
    self.problem = problem
  }

  /// One line: `file:line:column: problem`.
  public var description: String { "\(file):\(mark.line):\(mark.column): \(problem.text)" }
}

extension YAMLError.Problem {
  /// The problem and, for most problems, its solution, in one line.
  public var text: String {
    switch self {
    case .syntax(let problem):
      "not valid YAML: \(problem)"
    case .anchor(let name):
      "anchor `&\(name)` is not supported; write the value out"
    case .alias(let name):
      "alias `*\(name)` is not supported; write the value out"
    case .tag(let name):
      "tag `\(name)` is not supported; remove it"
    case .directive:
      "a tag directive is not supported; remove it"
    case .mergeKey:
      "merge key `<<` is not supported; write the keys out"
    case .secondDocument:
      "a second document starts here; keep one document per file"
    case .emptyDocument:
      "the file is empty; write its keys, or name another file"
    case .keyIsNotText:
      "a key must be plain text"
    case .duplicateKey(let key, let first):
      "key `\(key)` occurs twice, first in line \(first.line); keep one"
    case .tooDeep(let limit):
      "nested deeper than \(limit) levels"
    case .tooManyNodes(let limit):
      "more than \(limit) values; split the file"
    case .tooLong(let limit):
      "more than \(limit) bytes; split the file"
    case .outOfMemory:
      "not enough memory to read this file"
    }
  }
}
