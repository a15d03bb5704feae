import ArgumentParser
import DiskStore
import PolicyFile

extension ExitCode {
  /// Invalid input: a policy or a key file has errors, or a key cannot be retired.
  static let policyErrors = ExitCode(1)
  /// A system error, for example a port that is in use, or a file that is missing or may not be read.
  static let systemFailure = ExitCode(2)
  /// Ended by a second SIGINT or SIGTERM: 128 plus the number of the signal, as shells report it for a process that a
  /// signal ended.
  static let interrupted = ExitCode(130)
  static let terminated = ExitCode(143)
}

/// The meanings of the exit codes: one table for `--help`, the man pages and docs/cli.md.
struct ExitMeaning {
  /// A code, or several with commas between them.
  let codes: String
  /// A list of the cases, without a final period. Code is in backticks.
  let meaning: String

  private init(_ codes: [ExitCode], _ meaning: String) {
    self.codes = codes.map { "\($0.rawValue)" }.joined(separator: ", ")
    self.meaning = meaning
  }

  static let table = [
    ExitMeaning([.success], "done"),
    ExitMeaning(
      [.policyErrors],
      """
      invalid input: a policy or a key file with errors, a damaged store, an unknown key id, a key that cannot be \
      retired yet, a file that contains no request or has another \
      format, a failed case of `test`, a change with `diff --exit-code`; a socket of a \
      socket unit that no listener uses; a log \
      without clients, a client that is not ready with `readiness --exit-code`; a server that is no OAuth server for \
      `probe`; a failed step of `demo --headless`; an unhealthy gateway
      """),
    ExitMeaning(
      [.systemFailure],
      "system error: a port in use, a missing file or variable, no permission to read or write a file, a store that "
        + "another process uses, a server that `probe` cannot reach"),
    ExitMeaning([.validationFailure], "wrong arguments; a misspelt command, option, value or id gets a suggestion"),
    ExitMeaning(
      [.interrupted, .terminated], "ended by a second SIGINT or SIGTERM during a drain"),
  ]

  /// The table for `--help`, one code in a line. `deploy/manpages` reads these lines, too.
  static var help: String {
    (["Exit codes:"] + table.map { "\($0.codes): \($0.meaning)." }).joined(separator: "\n")
  }

  /// The table for docs/cli.md.
  static var manual: String {
    (["| exit code | meaning |", "|---|---|"] + table.map { "| \($0.codes) | \($0.meaning) |" })
      .joined(separator: "\n") + "\n"
  }
}

extension [Diagnostic] {
  /// The exit code for the errors among these findings: `systemFailure` if each error is about a missing or unreadable
  /// file or variable, otherwise `policyErrors`.
  var errorExitCode: ExitCode { errorsAreOnlyUnreadableFiles ? .systemFailure : .policyErrors }
}

extension FileStoreError {
  /// The exit code: `policyErrors` if the content of the file is damaged or not a store, otherwise `systemFailure`.
  var exitCode: ExitCode { isDamage ? .policyErrors : .systemFailure }
}
