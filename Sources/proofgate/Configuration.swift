import ArgumentParser
import Policy
import PolicyFile
import Sealing

/// What `serve` runs: a policy without errors and the keys that it names.
struct Configuration: Sendable {
  /// Why there is none.
  struct Failure: Error {
    /// All that is wrong, each with its place.
    let lines: [String]
    let code: ExitCode
  }

  let policy: Policy
  let keyRing: KeyRing
  /// Findings that do not keep the policy from being used.
  let warnings: [String]

  /// Reads a policy and its key file. Blocks.
  ///
  /// - Parameter ephemeral: the ring of a policy without a key file; one for the whole life of the process, so that a
  ///   reload does not end the flows under way.
  static func load(
    _ path: String, environment: [String: String], ephemeral: KeyRing
  ) -> Result<Configuration, Failure> {
    let outcome = PolicyFile.load(path: path, environment: environment)
    var findings = outcome.diagnostics + outcome.unsupported
    var keyRing = ephemeral
    if let reference = outcome.sealingKeys {
      do throws(KeySource.Failure) {
        keyRing = try KeySource.ring(reference.path)
      } catch {
        findings += error.findings
      }
    }
    let found = findings.filter { $0.severity != .note }.map(\.description)
    guard let policy = outcome.policy, outcome.isServable, !findings.hasErrors else {
      return .failure(Failure(lines: found, code: findings.errorCode))
    }
    return .success(Configuration(policy: policy, keyRing: keyRing, warnings: found))
  }
}
