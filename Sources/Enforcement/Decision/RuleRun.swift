import Policy

/// Runs rules in order until one refuses. In observe mode, it runs all rules and records each refusal as a finding.
struct RuleRun {
  enum Outcome {
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

  mutating func run<Context>(_ rules: [Rule<Context>], on context: Context) -> Outcome {
    // Reads the rules in place: a copy of a rule would retain its name and its closure.
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
