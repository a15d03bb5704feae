import OAuth
import Policy

/// One check: a name, and a pure function of the context (the request, the policy, and the facts that the caller has
/// looked up).
///
/// The rules of one subject are in one file of `Rules/`. `RuleTable` lists the rules of each endpoint in the order in
/// which they run.
struct Rule<Context>: Sendable {
  /// The condition that holds when the rule passes, in a few words.
  let name: String
  /// The section of the specification, or the invariant of the threat model, from which the rule comes; `nil` if there is
  /// none.
  let source: String?
  let check: @Sendable (Context) -> Verdict

  init(name: String, source: String? = nil, check: @escaping @Sendable (Context) -> Verdict) {
    self.name = name
    self.source = source
    self.check = check
  }

  /// The type of the context and the name, for example `TokenContext: the client is registered`. This text is unique in
  /// `RuleTable`.
  var identity: String { "\(Context.self): \(name)" }
}

/// The result of one rule.
public enum Verdict: Sendable {
  case pass
  /// The rule does not refuse the request, but adds a finding for the operator.
  case note(Finding.Note)
  case refuse(Rejection, Detail?)

  static func refuse(_ rejection: Rejection) -> Verdict { .refuse(rejection, nil) }
}

/// One line of the explanation of a decision: a rule that ran, and its result.
public struct TraceStep: Sendable {
  /// The name of the rule: the condition that holds when the rule passes.
  public let rule: String
  /// The section of the specification, or the invariant of the threat model, from which the rule comes; `nil` if there is
  /// none.
  public let source: String?
  /// The result of the rule.
  public let verdict: Verdict
}

/// The facts for rules that apply at several endpoints.
protocol FormContext: Sendable {
  var policy: Policy { get }
  var client: Client? { get }
  var parameters: FormParameters { get }
  /// The parameters that are defined for the endpoint.
  var definedParameters: ParameterNames { get }
  /// The scope that is requested; `nil` if the request has no scope, the scope is malformed, or the request is a
  /// redemption of a code, in which a scope has no meaning.
  var requestedScope: Scope? { get }
  /// The defect of the method, the body or the set of parameters; `nil` if there is none.
  var defect: RequestDefect? { get }
}

/// Runs lists of rules, and collects their findings. A list runs in order until a rule refuses. In observe mode, all
/// rules of the list run, and each refusal is recorded as a finding.
struct RuleRun {
  enum Outcome {
    case refused(Rejection, Detail?)
    /// No rule refused, or the mode is observe. In observe mode, `findings` has the refusals.
    case allowed
  }

  /// The notes of the rules and, in observe mode, their refusals.
  private(set) var findings: [Finding] = []
  /// The rules that ran, with their verdicts; empty if `keepsTrace` is false.
  private(set) var trace: [TraceStep] = []
  let mode: EnforcementMode
  let keepsTrace: Bool

  init(mode: EnforcementMode, keepsTrace: Bool = false) {
    self.mode = mode
    self.keepsTrace = keepsTrace
  }

  mutating func run<Context>(_ rules: [Rule<Context>], on context: Context) -> Outcome {
    // Read the rules in place: a copy of a rule would change the reference counts of its name and its closure.
    let rules = rules.span
    for index in rules.indices {
      if RuleRun.isSkippedByMutationTest(rules[index]) { continue }
      let verdict = rules[index].check(context)
      if keepsTrace { trace.append(TraceStep(rule: rules[index].name, source: rules[index].source, verdict: verdict)) }
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
