import ArgumentParser
import Policy
import PolicyFile
import Sealing

/// The input of `serve`: a policy without errors and the keys that it names.
struct Configuration: Sendable {
  /// The errors for which a configuration cannot be used.
  struct Failure: Error {
    /// All errors, each with its place.
    let lines: [String]
    let code: ExitCode
  }

  let policy: Policy
  let keyRing: KeyRing
  /// Findings that do not prevent the use of the policy.
  let warnings: [String]

  /// Reads a policy and its key file. Blocks.
  ///
  /// - Parameter ephemeral: The key ring for a policy without a key file. The process has only one, so that a reload
  ///   does not end sign-ins in progress.
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
