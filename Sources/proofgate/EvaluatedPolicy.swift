import ArgumentParser
import ByteText
import Evaluation
import FoundationEssentials
import Policy
import PolicyFile

/// Reads the policies of `explain`, `test` and `diff`. Secrets, keys and certificates are not read, so that the commands
/// run on machines that do not have them, and cannot print them.
enum EvaluatedPolicy {
  /// Reads a policy. Reports its errors and throws the exit code if it has any.
  static func read(_ path: String) throws(ExitCode) -> Evaluator {
    let sources = PolicySources(environment: ProcessInfo.processInfo.environment, readsSecrets: false)
    let outcome = PolicyFile.load(path: path, sources)
    guard let policy = outcome.policy else {
      for finding in outcome.diagnostics where finding.severity == .error { Console.writeLine(finding.description) }
      throw outcome.diagnostics.errorExitCode
    }
    return Evaluator(policy)
  }

  /// Encodes a report.
  static func json(_ document: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(document), as: UTF8.self).visibleJSON + "\n"
  }
}
