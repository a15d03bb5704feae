/// One check: a name and a pure function of the request, the policy and the facts.
///
/// The rules of one subject are in one file of `Rules/`; `RuleTable` shows which run at which endpoint, in which order.
struct Rule<Context>: Sendable {
  /// What holds when the rule passes, in a few words.
  let name: String
  let check: @Sendable (Context) -> Verdict

  /// The context and the name, for example `TokenContext: the client is registered`. Unique in `RuleTable`.
  var identity: String { "\(Context.self): \(name)" }
}

/// What one rule says.
public enum Verdict: Sendable {
  case pass
  case note(Finding.Note)
  case refuse(Rejection, Detail?)

  static func refuse(_ rejection: Rejection) -> Verdict { .refuse(rejection, nil) }
}

/// One line of an explanation.
public struct TraceStep: Sendable {
  public let rule: String
  public let verdict: Verdict
}
