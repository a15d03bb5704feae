import Enforcement
import OAuth
import Policy

/// The results of the cases of one file.
public struct CaseReport: Sendable {
  /// The result of one case.
  public struct Result: Sendable {
    /// The case.
    public let testCase: CaseFile.Case
    /// The decision of the policy.
    public let evaluation: Evaluation
    /// The differences from the expected decision, one line each; empty if the case passed.
    public let problems: [String]
  }

  /// The path of the file.
  public let path: String
  /// The path of the policy.
  public let policyPath: String
  /// The results in the order of the file.
  public let results: [Result]
  /// The clients of the policy that no case names, in alphabetical order.
  public let untestedClients: [String]

  /// Runs the cases.
  public init(_ file: CaseFile, _ evaluator: Evaluator, policyPath: String) {
    path = file.path
    self.policyPath = policyPath
    results = file.cases.map { testCase in
      let evaluation = evaluator.evaluate(testCase.request)
      return Result(testCase: testCase, evaluation: evaluation, problems: testCase.expectation.problems(evaluation))
    }
    let tested = Set(results.compactMap(\.evaluation.client))
    untestedClients = evaluator.policy.clients.keys.map(\.rawValue).filter { !tested.contains($0) }.sorted()
  }

  /// The results of the cases that failed.
  public var failures: [Result] { results.filter { !$0.problems.isEmpty } }

  /// The report: the failed cases with the rule that decided, and the clients without a case.
  public var text: String {
    var text = ""
    for result in failures {
      text += "\(path):\(result.testCase.line): failed: \(result.testCase.name)\n"
      for problem in result.problems { text += "  \(problem)\n" }
      if let rejection = result.evaluation.rejection {
        text += "  \(rejection.ruleID): \(rejection.errorDescription) (\(rejection.reference))\n"
      }
    }
    let count = results.count
    let passed = count - failures.count
    text += "\(path): \(passed) of \(count) case\(count == 1 ? "" : "s") passed\n"
    if !untestedClients.isEmpty {
      let names = untestedClients.prefix(10).map { "`\($0)`" }.joined(separator: ", ")
      let more = untestedClients.count > 10 ? " and \(untestedClients.count - 10) more" : ""
      text += "\(path): note: no case names \(names)\(more)\n"
    }
    return text
  }
}

extension CaseFile.Expectation {
  /// Returns the differences of a decision from this expectation.
  fileprivate func problems(_ evaluation: Evaluation) -> [String] {
    var problems: [String] = []
    if let decision, decision != evaluation.decision {
      problems.append("decision: expected `\(decision.rawValue)`, got `\(evaluation.summary)`")
    } else if let rule, rule != evaluation.rejection?.ruleID {
      problems.append("rule: expected `\(rule)`, got `\(evaluation.rejection?.ruleID ?? "none")`")
    }
    if let consent, consent != evaluation.asksForConsent {
      problems.append("consent: expected `\(consent)`, got `\(evaluation.asksForConsent)`")
    }
    for finding in findings where !evaluation.findingNames.contains(finding) {
      let names = evaluation.findingNames.map { "`\($0)`" }.joined(separator: ", ")
      problems.append("findings: expected `\(finding)`, got \(names.isEmpty ? "none" : names)")
    }
    for (name, value) in upstream {
      let sent = evaluation.upstream?.parameters.first { $0.name == name }?.value
      if sent != value {
        problems.append(
          "upstream: expected `\(name)` to be `\(value)`, got \(sent.map { "`\($0)`" } ?? "no such parameter")")
      }
    }
    return problems
  }
}

/// The structure of `proofgate test --json`.
public struct CaseReportDocument: Encodable, Sendable {
  struct File: Encodable, Sendable {
    enum CodingKeys: String, CodingKey {
      case file, policy, cases
      case untestedClients = "untested_clients"
    }

    let file: String
    let policy: String
    let cases: [Case]
    let untestedClients: [String]
  }

  struct Case: Encodable, Sendable {
    let name: String
    let line: Int
    let ok: Bool
    let decision: String
    let rule: String?
    let problems: [String]
  }

  let ok: Bool
  let files: [File]

  /// Describes the reports of several files.
  public init(_ reports: [CaseReport]) {
    ok = reports.allSatisfy { $0.failures.isEmpty }
    files = reports.map { report in
      File(
        file: report.path, policy: report.policyPath,
        cases: report.results.map { result in
          Case(
            name: result.testCase.name, line: result.testCase.line, ok: result.problems.isEmpty,
            decision: result.evaluation.decision.rawValue, rule: result.evaluation.rejection?.ruleID,
            problems: result.problems)
        }, untestedClients: report.untestedClients)
    }
  }
}
