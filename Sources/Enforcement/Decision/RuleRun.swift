import Policy

/// Runs rules in order until one refuses. In observe mode it runs all of them and collects the refusals as findings.
struct RuleRun {
  enum End {
    case refused(Rejection, Detail?)
    case allowed
  }

  private(set) var findings: [Finding] = []
  private(set) var trace: [TraceStep] = []
  let mode: EnforcementMode
  let keepsTrace: Bool

  init(mode: EnforcementMode, keepsTrace: Bool = false) {
    self.mode = mode
    self.keepsTrace = keepsTrace
  }

  mutating func run<Context>(_ rules: [Rule<Context>], on context: Context) -> End {
    // Iterates the span in place: copying a rule out of the array would retain its name and its closure.
    let rules = rules.span
    for index in rules.indices {
      if RuleRun.skips(rules[index]) { continue }
      let verdict = rules[index].check(context)
      if keepsTrace { trace.append(TraceStep(rule: rules[index].name, verdict: verdict)) }
      switch verdict {
      case .pass: continue
      case .note(let note): findings.append(.note(note))
      case .refuse(let rejection, let detail):
        guard mode == .observe else { return .refused(rejection, detail) }
        findings.append(.wouldReject(rejection))
      }
    }
    return .allowed
  }
}
