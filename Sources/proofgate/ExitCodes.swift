import ArgumentParser
import PolicyFile

extension ExitCode {
  /// Invalid input: a policy or a key file with errors.
  static let policyErrors = ExitCode(1)
  /// A system error: a port in use, a missing file, or no permission to read it.
  static let systemFailure = ExitCode(2)
}

extension [Diagnostic] {
  /// The exit code for these errors, the same for every command.
  var errorCode: ExitCode { onlyMissFiles ? .systemFailure : .policyErrors }
}
