/// One check: a name, and a pure function of the context (the request, the policy, and the facts that the caller has
/// looked up).
///
/// The rules of one subject are in one file of `Rules/`. `RuleTable` lists the rules of each endpoint in the order in
/// which they run.
struct Rule<Context>: Sendable {
  /// The condition that holds when the rule passes, in a few words.
  let name: String
  let check: @Sendable (Context) -> Verdict

  /// The type of the context, and the name, for example `TokenContext: the client is registered`. It is unique in
  /// `RuleTable`.
  var identity: String { "\(Context.self): \(name)" }
}

/// The result of one rule.
public enum Verdict: Sendable {
  case pass
  case note(Finding.Note)
  case refuse(Rejection, Detail?)

  static func refuse(_ rejection: Rejection) -> Verdict { .refuse(rejection, nil) }
}

/// One line of the explanation of a decision: a rule that ran, and its result.
public struct TraceStep: Sendable {
  /// The name of the rule: the condition that holds when the rule passes.
  public let rule: String
  /// The result of the rule.
  public let verdict: Verdict
}
