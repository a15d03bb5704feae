import ArgumentParser
import Enforcement
import PolicyFile

/// The command `proofgate rules`: explains rules, whose ids occur on error pages, in the log and in metrics.
struct RulesCommand: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "rules", abstract: "Explain a rule: what it refuses, why, and what to do. Without an id, list all.")
  }

  @Argument(help: ArgumentHelp("The id of a rule, as on the error page or in the log.", valueName: "id"))
  var id: String?

  func validate() throws {
    guard let id, rejection == nil else { return }
    let near = EditDistance.nearest(to: id, among: all.map(\.ruleID)).map { "did you mean `\($0)`?" }
    throw ValidationError("there is no rule `\(id)`; \(near ?? "`proofgate rules` lists all rules")")
  }

  func run() {
    if let rejection {
      Console.writeOutput("\(rejection.ruleID)\n\n\(RulesManual.section(on: rejection))")
      return
    }
    let width = all.map(\.ruleID.count).max() ?? 0
    for (index, subject) in Rejection.subjects.enumerated() {
      Console.writeOutput((index == 0 ? "" : "\n") + subject.title + "\n")
      for rejection in subject.rejections {
        let space = String(repeating: " ", count: width - rejection.ruleID.count)
        Console.writeOutput("  \(rejection.ruleID)\(space)  \(rejection.errorDescription)\n")
      }
    }
  }

  /// All rejections. Each has the id of its rule, as error pages and the log show it.
  private var all: [Rejection] { Rejection.subjects.flatMap(\.rejections) }

  /// The rejection of the rule in the argument; `nil` if there is no such rule.
  private var rejection: Rejection? { all.first { $0.ruleID == id } }
}
