import ArgumentParser
import Policy
import PolicyFile
import Sealing

/// Reads key files.
enum KeySource {
  /// The reason why a key file cannot be used.
  struct Failure: Error {
    let findings: [Diagnostic]

    /// The findings as lines of the form `file:line:column: error: ...`.
    var lines: [String] { findings.map(\.description) }

    /// The exit code: `policyErrors` for a malformed file, `systemFailure` for a file that cannot be read.
    var code: ExitCode { findings.errorExitCode }

    init(_ path: String, line: Int = 1, column: Int = 1, _ message: String, id: DiagnosticID = .invalidKeyFile) {
      findings = [Diagnostic(id: id, severity: .error, file: path, line: line, column: column, message: message)]
    }

    init(_ path: String, _ problems: [KeyFileError.Problem]) {
      findings = problems.map {
        Diagnostic(
          id: .invalidKeyFile, severity: .error, file: path, line: $0.line, column: $0.column, message: $0.message)
      }
    }
  }

  static func readKeyFile(_ path: String) throws(Failure) -> KeyFile {
    let text: String
    do throws(InputFile.Problem) {
      text = try InputFile.read(path)
    } catch {
      let advice = error.isMissing ? "`proofgate keys generate --file \(path)` creates one" : error.advice
      throw Failure(
        path, "the key file \(error.reason); \(advice)",
        id: error.code == .policyErrors ? .invalidKeyFile : .unreadableSecret)
    }
    return try parse(text, from: path)
  }

  static func parse(_ text: String, from path: String) throws(Failure) -> KeyFile {
    do throws(KeyFileError) {
      return try KeyFile(parsing: text)
    } catch {
      throw Failure(path, error.problems)
    }
  }

  /// Reads a key file and returns its keys. Throws if no key of the file is for sealing new values, or if the policy
  /// has `registration` and the file has no key for it.
  static func readKeyRing(_ path: String, for policy: Policy?) throws(Failure) -> KeyRing {
    guard let ring = try readKeyFile(path).ring else {
      throw Failure(path, "no key seals; add one with `proofgate keys rotate --file \(path)`")
    }
    if policy?.registration != nil, ring.registration == nil {
      throw Failure(
        path,
        "`registration` needs a key of its own; add one with `proofgate keys rotate --registration --file \(path)`")
    }
    return ring
  }
}
