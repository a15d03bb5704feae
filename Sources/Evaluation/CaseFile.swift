import Enforcement
import OAuth
import PolicyFile
import YAML

/// A file of cases: requests with the decisions that a policy must give them.
public struct CaseFile: Sendable {
  /// One request with the expected decision.
  public struct Case: Sendable {
    /// The sentence that describes the case.
    public let name: String
    /// The line of the file on which the case begins.
    public let line: Int
    /// The request.
    public let request: TriedRequest
    let expectation: Expectation
  }

  /// The expected result. A `nil` member is not compared.
  struct Expectation: Sendable {
    var decision: Evaluation.Decision?
    var rule: String?
    var consent: Bool?
    /// Findings that must be in the log. Others may be there too.
    var findings: [String] = []
    /// Parameters that the request for the upstream must have with these values.
    var upstream: [(name: String, value: String)] = []
  }

  /// The reasons why a file cannot be used, one line each, with file, line and column.
  public struct Failure: Error, Sendable {
    /// The lines.
    public let lines: [String]
  }

  /// The maximum number of cases in a file, so that a test ends in seconds.
  static let maximumCount = 10_000

  /// The path of the file.
  public let path: String
  /// The path of the policy as the file names it; `nil` if it names none.
  public let policy: String?
  /// The cases in the order of the file.
  public let cases: [Case]

  /// Parses a file. Throws all errors of the file together.
  public init(parsing text: String, path: String) throws(Failure) {
    let document: YAMLDocument
    do throws(YAMLError) {
      document = try YAMLDocument.parse(Array(text.utf8), file: path)
    } catch {
      throw Failure(lines: ["\(path):\(error.mark.line):\(error.mark.column): error: \(error.problem.text)"])
    }
    var reader = CaseReader(file: path)
    reader.read(document.root)
    guard reader.errors.isEmpty else { throw Failure(lines: reader.errors) }
    self.path = path
    policy = reader.policy
    cases = reader.cases
  }
}

extension CaseFile {
  /// The policy of the file: the one that it names, relative to the folder of the file; or, without a name, the file of
  /// the same name without `.test`.
  public var policyPath: String? {
    let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    if let policy {
      return policy.hasPrefix("/") || folder.isEmpty && !path.hasPrefix("/") ? policy : "\(folder)/\(policy)"
    }
    guard path.hasSuffix(".test.yaml") else { return nil }
    return path.dropLast(".test.yaml".count) + ".yaml"
  }
}
