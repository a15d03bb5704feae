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

        With `--id` and `--log`, the command finds a decision in the log: by the id of an error page, of an `error_uri` or \
        of the field X-Request-ID, or by a `flow`, which shows all lines of a sign-in. For a refused \
        redirect URI, it shows the registered one that is most similar.
        """)
  }

  @Argument(help: ArgumentHelp("The policy; left out with --policy.", valueName: "policy"))
  var first: String?

  @Argument(help: ArgumentHelp("The request.", valueName: "request"))
  var second: String?

  @Option(name: .customLong("policy"), help: ArgumentHelp("The policy, in place of the argument.", valueName: "file"))
  var policies: [String] = []

  @Option(
    help: ArgumentHelp("A file with the request, in place of the argument; - is standard input.", valueName: "file"))
  var file: String?

  // One of 64 ids begins with a hyphen, like an option.
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The id of a logged request or flow, or an error_uri with one.", valueName: "id"))
  var id: String?

  @Option(
    help: ArgumentHelp(
      "A decision log in which to find the id, also compressed with gzip; - is standard input. May be repeated, oldest "
        + "first.",
      valueName: "file"))
  var log: [String] = []

  @Flag(help: "Print the explanation as JSON.")
  var json = false

  /// The path of the policy.
  private var policy: String { policies.first ?? first ?? "" }
  /// The request, if it is an argument. Without `--policy`, the first argument is the policy.
  private var request: String? { policies.isEmpty ? second : first }

  func validate() throws {
    guard policies.count + (first == nil ? 0 : 1) > 0 else {
      throw ValidationError("no policy is named; use `proofgate explain POLICY REQUEST`")
    }
    guard policies.count <= 1, policies.isEmpty || second == nil else {
      throw ValidationError("more than one policy is named; name it either with `--policy` or as the first argument")
    }
    if id != nil || !log.isEmpty {
      guard let id, !log.isEmpty else { throw ValidationError("`--id` and `--log` belong together; give both") }
      guard !LoggedDecision.id(in: id).isEmpty else { throw ValidationError("the id is empty") }
      guard request == nil, file == nil else {
        throw ValidationError(
          "`--id` explains a logged decision; remove the request or `--file`, and write `--log` in front of each log")
      }
      return
    }
    switch (request, file) {
    case (nil, nil): throw ValidationError("no request is given; write it in quotes, or name a file with `--file FILE`")
    case (.some, .some): throw ValidationError("the request is given twice; remove the argument or `--file`")
    default: break
    }
    if let request { _ = try parsed(request) }
  }

  func run() throws {
    if let id { return try explain(LoggedDecision.id(in: id), in: log) }
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

  /// Explains the decision with this id in logs.
  private func explain(_ id: String, in logs: [String]) throws {
    let policy = try EvaluatedPolicy.read(policy).policy
    let lines = try LogSearch(id, in: logs).found
    guard let decisions = LoggedDecisions(lines, with: id, policy) else {
      Console.reportError(
        "no decision in \(logs.joined(separator: ", ")) has the id `\(id)`; look in rotated logs and in those of the other replicas. An error in "
          + "place of a response that should have passed (502, 503, 504) has no line")
      throw ExitCode.policyErrors
    }
    Console.writeOutput(json ? try EvaluatedPolicy.json(decisions) : decisions.text)
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
      throw error.code
    }
    do throws(RequestTextError) {
      return try TriedRequest(parsing: text)
    } catch {
      Console.reportError("\(path == "-" ? "standard input" : path): \(error.description)")
      throw .policyErrors
    }
  }
}
