import ArgumentParser
import Evaluation

/// The command `proofgate test`: compares the decisions of policies with those that files of cases expect.
struct TestCommand: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "test", abstract: "Check that policies give requests the expected decisions.",
      discussion: """
        Each file has cases for one policy. Secrets of the policies are not read. Exit code 1 if a case fails or a file \
        has errors.
        """)
  }

  @Argument(help: ArgumentHelp("The files of cases.", valueName: "file"))
  var files: [String]

  @Option(help: ArgumentHelp("The policy, in place of the one that a file names.", valueName: "file"))
  var policy: String?

  @Flag(help: "Print the report as JSON.")
  var json = false

  @Flag(help: "Print only the cases that failed.")
  var quiet = false

  func run() throws {
    var reports: [CaseReport] = []
    for path in files {
      let file = try TestCommand.read(path)
      guard let policyPath = policy ?? file.policyPath else {
        Console.reportError("\(path) names no policy; add `policy: FILE`, or use --policy")
        throw ExitCode.policyErrors
      }
      reports.append(CaseReport(file, try EvaluatedPolicy.read(policyPath), policyPath: policyPath))
    }
    if json {
      Console.writeOutput(try EvaluatedPolicy.json(CaseReportDocument(reports)))
    } else {
      for report in reports where !quiet || !report.failures.isEmpty { Console.writeOutput(report.text) }
    }
    if reports.contains(where: { !$0.failures.isEmpty }) { throw ExitCode.policyErrors }
  }

  /// Reads a file of cases. Reports its errors and throws the exit code if it has any.
  static func read(_ path: String) throws(ExitCode) -> CaseFile {
    let text: String
    do throws(InputFile.Problem) {
      text = try InputFile.read(path)
    } catch {
      Console.reportError("the file of cases \(path) \(error.text)")
      throw error.code
    }
    do throws(CaseFile.Failure) {
      return try CaseFile(parsing: text, path: path)
    } catch {
      for line in error.lines { Console.writeLine(line) }
      throw .policyErrors
    }
  }
}
