import ArgumentParser
import Evaluation

/// The command `proofgate explain`: decides one request, and shows the rules that ran.
struct ExplainCommand: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "explain", abstract: "Show how a policy decides a request, rule by rule.",
      discussion: """
        The request is a URL or a path (a GET), a curl command line in quotes, or an HTTP request. Secrets of the policy \
        are not read: a client secret in the request counts as the right one, unless it is `wrong`. The exit code is 0 \
        for every decision.
        """)
  }

  @Argument(help: ArgumentHelp("The policy.", valueName: "policy"))
  var policy: String

  @Argument(help: ArgumentHelp("The request.", valueName: "request"))
  var request: String?

  @Option(
    help: ArgumentHelp("A file with the request, in place of the argument; - is standard input.", valueName: "file"))
  var file: String?

  @Flag(help: "Print the explanation as JSON.")
  var json = false

  func validate() throws {
    switch (request, file) {
    case (nil, nil): throw ValidationError("no request is given; write it in quotes, or name a file with `--file FILE`")
    case (.some, .some): throw ValidationError("the request is given twice; remove the argument or `--file`")
    default: break
    }
    if let request { _ = try parsed(request) }
  }

  func run() throws {
    let tried: TriedRequest
    if let request {
      tried = try parsed(request)
    } else {
      tried = try readFile()
    }
    let evaluation = try EvaluatedPolicy.read(policy).evaluate(tried)
    if json {
      Console.writeOutput(try EvaluatedPolicy.json(EvaluationDocument(evaluation)))
    } else {
      Console.writeOutput("\(tried.method) \(tried.path): \(evaluation.title)\n\n\(evaluation.text)")
    }
  }

  private func parsed(_ text: String) throws(ValidationError) -> TriedRequest {
    do throws(RequestTextError) {
      return try TriedRequest(parsing: text)
    } catch {
      throw ValidationError(error.description)
    }
  }

  private func readFile() throws(ExitCode) -> TriedRequest {
    let path = file ?? "-"
    let text: String
    do throws(InputFile.Problem) {
      text = try path == "-" ? InputFile.readStandardInput() : InputFile.read(path)
    } catch {
      Console.reportError("the request file \(path) \(error.text)")
      throw .systemFailure
    }
    do throws(RequestTextError) {
      return try TriedRequest(parsing: text)
    } catch {
      Console.reportError("\(path): \(error.description)")
      throw .policyErrors
    }
  }
}
