import Enforcement
import OAuth
import Policy

/// The structure of `proofgate explain --json`.
public struct EvaluationDocument: Encodable, Sendable {
  /// One rule that ran.
  public struct Step: Encodable, Sendable {
    let rule: String
    let verdict: String
    let source: String?
    /// The id of the refusal; absent if the rule does not refuse.
    let id: String?
  }

  struct Redirect: Encodable, Sendable {
    let requested: String
    let registered: String
    let number: Int
    let offset: Int
    let portOmitted: Bool
  }

  struct Upstream: Encodable, Sendable {
    struct Parameter: Encodable, Sendable {
      let name: String
      let value: String
    }

    let request: String
    let authentication: String?
    let parameters: [Parameter]
  }

  enum CodingKeys: String, CodingKey {
    case endpoint, client, mode, decision, rule, summary, consent, rules, findings, redirect, upstream, notes
  }

  let endpoint: String?
  let client: String?
  let mode: String?
  let decision: String
  let rule: String?
  let summary: String
  let consent: Bool
  let rules: [Step]
  let findings: [String]
  let redirect: Redirect?
  let upstream: Upstream?
  let notes: [String]

  /// Describes an evaluation.
  public init(_ evaluation: Evaluation) {
    endpoint = evaluation.endpoint
    client = evaluation.client
    mode = evaluation.mode?.rawValue
    decision = evaluation.decision.rawValue
    rule = evaluation.rejection?.ruleID
    summary = evaluation.summary
    consent = evaluation.asksForConsent
    rules = evaluation.steps.map { step in
      switch step.verdict {
      case .pass: Step(rule: step.rule, verdict: "pass", source: step.source, id: nil)
      case .note(let note): Step(rule: step.rule, verdict: "note", source: step.source, id: note.rawValue)
      case .refuse(let rejection, _):
        Step(rule: step.rule, verdict: "refuse", source: rejection.reference, id: rejection.ruleID)
      }
    }
    findings = evaluation.findingNames
    redirect = evaluation.redirect.map {
      Redirect(
        requested: $0.requested, registered: $0.registered, number: $0.number, offset: $0.offset,
        portOmitted: $0.omitsPort)
    }
    upstream = evaluation.upstream.map { preview in
      Upstream(
        request: preview.request, authentication: preview.authentication,
        parameters: preview.parameters.map { Upstream.Parameter(name: $0.name, value: $0.value) })
    }
    notes = evaluation.notes
  }
}
