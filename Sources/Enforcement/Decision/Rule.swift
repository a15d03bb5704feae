/// One check: a name and a pure function of the request, the policy and the facts.
///
/// The rules of one subject are in one file of `Rules/`; `RuleTable` shows which rules run at which endpoint, and in
/// which order.
struct Rule<Context>: Sendable {
  /// The condition that holds when the rule passes, in a few words.
  let name: String
  let check: @Sendable (Context) -> Verdict

  /// The context and the name, for example `TokenContext: the client is registered`. Unique in `RuleTable`.
  var identity: String { "\(Context.self): \(name)" }
}

/// The result of one rule.
public enum Verdict: Sendable {
  case pass
  case note(Finding.Note)
  case refuse(Rejection, Detail?)

  static func refuse(_ rejection: Rejection) -> Verdict { .refuse(rejection, nil) }
}

/// One line of an explanation: a rule that ran and its result.
public struct TraceStep: Sendable {
  /// The name of the rule: the condition that holds when it passes.
  public let rule: String
  /// The result of the rule.
  public let verdict: Verdict
}
