import ArgumentParser
import PolicyFile

extension ExitCode {
  /// Invalid input: a policy or a key file has errors, or a key cannot be retired.
  static let policyErrors = ExitCode(1)
  /// A system error, for example a port that is in use, or a file that is missing or may not be read.
  static let systemFailure = ExitCode(2)
}

extension [Diagnostic] {
  /// The exit code for the errors among these findings: `systemFailure` if each error is about a missing or unreadable
  /// file or variable, otherwise `policyErrors`.
  var errorExitCode: ExitCode { errorsAreOnlyUnreadableFiles ? .systemFailure : .policyErrors }
}
