import ArgumentParser

extension ExitCode {
  /// What the operator wrote is wrong: a policy with errors.
  static let policyErrors = ExitCode(1)
  /// The system is in the way: a port in use, a missing file, no right to read it.
  static let systemFailure = ExitCode(2)
}
