/// Why a file is not one plain YAML document, and where.
public struct YAMLError: Error, Equatable, Sendable, CustomStringConvertible {
  public enum Problem: Equatable, Sendable {
    /// libyaml's own words, e.g. `did not find expected key`.
    case syntax(String)
    case anchor(String)
    case alias(String)
    case tag(String)
    case directive
    case mergeKey
    case secondDocument
    case emptyDocument
    case keyIsNotText
    /// The key, and where it stands first.
    case duplicateKey(String, first: YAMLMark)
    case tooDeep(limit: Int)
    case tooManyNodes(limit: Int)
    case tooLong(limit: Int)
    case outOfMemory
  }

  public let file: String
  public let mark: YAMLMark
  public let problem: Problem

  public init(file: String, mark: YAMLMark, problem: Problem) {
    self.file = file
    self.mark = mark
    self.problem = problem
  }

  public var description: String { "\(file):\(mark.line):\(mark.column): \(problem.text)" }
}

extension YAMLError.Problem {
  /// One line: what is wrong and what to do.
  public var text: String {
    switch self {
    case .syntax(let what):
      "not valid YAML: \(what)"
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
      "the file is empty"
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
