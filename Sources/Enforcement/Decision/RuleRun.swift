import Policy

/// Runs rules in order until one refuses; in report mode it goes on and remembers what was found.
struct RuleRun {
  enum End {
    case refused(Rejection, Detail?)
    /// Something that only report mode lets by, and only untouched.
    case passed
    case allowed
  }

  private(set) var findings: [Finding] = []
  private(set) var trace: [TraceStep] = []
  let mode: Mode
  let keepsTrace: Bool

  init(mode: Mode, keepsTrace: Bool = false) {
    self.mode = mode
    self.keepsTrace = keepsTrace
  }

  mutating func run<Context>(_ rules: [Rule<Context>], on context: Context) -> End {
    var passes = false
    // Looked at where they are: taking each out of the array would count references of its name and its check.
    let rules = rules.span
    for index in rules.indices {
      if RuleRun.skips(rules[index]) { continue }
      let verdict = rules[index].check(context)
      if keepsTrace { trace.append(TraceStep(rule: rules[index].name, verdict: verdict)) }
      switch verdict {
      case .pass: continue
      case .note(let note): findings.append(.note(note))
      case .refuse(let rejection, let detail):
        guard mode == .report, !rejection.appliesInReportMode else { return .refused(rejection, detail) }
        findings.append(.wouldReject(rejection))
        if rejection.reportModeEffect == .pass { passes = true }
      }
    }
    return passes ? .passed : .allowed
  }
}
