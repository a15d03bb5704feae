import ArgumentParser
import Policy
import PolicyFile
import Sealing

/// The configuration of `proofgate serve`: a policy without errors, and the sealing keys.
struct Configuration: Sendable {
  /// The reason why a configuration cannot be used.
  struct Failure: Error {
    /// All errors and warnings.
    let findings: [Diagnostic]
    /// The exit code of a process that cannot start.
    let code: ExitCode
    /// The policy file, and the files that it includes or names.
    let files: [String]

    /// The findings, one line each, with file, line and column.
    var lines: [String] { findings.map(\.description) }
  }

  let policy: Policy
  let keyRing: KeyRing
  /// The warnings about the policy, one line each. They do not prevent its use.
  let warnings: [String]
  /// The policy file, and the files that it includes or names.
  let files: [String]

  /// Reads a policy and its key file. This blocks the calling thread.
  ///
  /// - Parameter ephemeralKeyRing: The key ring for a policy without `sealing_keys`. The caller passes the same ring at
  ///   each reload, so that a reload does not end sign-ins in progress.
  static func load(
    _ path: String, environment: [String: String], ephemeralKeyRing: KeyRing
  ) -> Result<Configuration, Failure> {
    let outcome = PolicyFile.load(path: path, environment: environment)
    // `unsupportedSettings` has an error for each valid setting that `serve` does not support. If neither list has an
    // error, `outcome.isServable` is true.
    var findings = outcome.diagnostics + outcome.unsupportedSettings
    var keyRing = ephemeralKeyRing
    if let reference = outcome.sealingKeys {
      do throws(KeySource.Failure) {
        keyRing = try KeySource.readKeyRing(reference.path, for: outcome.policy)
      } catch {
        findings += error.findings
      }
    }
    let files = outcome.files + outcome.contentFiles
    let problems = findings.filter { $0.severity != .note }
    guard let policy = outcome.policy, outcome.isServable, !findings.hasErrors else {
      return .failure(Failure(findings: problems, code: findings.errorExitCode, files: files))
    }
    return .success(
      Configuration(policy: policy, keyRing: keyRing, warnings: problems.map(\.description), files: files))
  }
}
