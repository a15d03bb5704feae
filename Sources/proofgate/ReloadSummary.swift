import Evaluation
import Policy
import PolicyFile

/// The decisions and settings that a reload changes, the decisions in the words of `proofgate diff`.
enum ReloadSummary {
  /// The number of clients up to which a reload compares policies. The sets that a comparison needs grow with the
  /// clients, and a reload must not take much more memory than the two policies.
  static let maximumClients = 10_000
  /// The number of clients whose decisions a reload compares: about a tenth of a second of processor time.
  static let maximumComparedClients = 500
  /// The number of lines for changed decisions.
  static let maximumLines = 20

  /// The number of lines for changed settings.
  static let maximumSettings = 20

  /// Returns one line for each changed setting. A secret or a certificate can change although the policy is the same.
  static func settings(from old: Policy, to new: Policy) -> [String] {
    let lines = SettingChanges(from: old, to: new, maximumClients: maximumComparedClients).lines
    let rest = lines.count - maximumSettings
    return lines.prefix(maximumSettings).map { "setting changed: \($0)" }
      + (rest > 0 ? ["\(rest) more settings changed"] : [])
  }

  /// Returns one line for each changed decision, and one that counts them; no line if the policy is the same.
  static func lines(from old: Policy, to new: Policy) -> [String] {
    guard old.version != new.version else { return [] }
    guard max(old.clients.count, new.clients.count) <= maximumClients else {
      return [
        "the decisions of more than \(maximumClients) clients are not compared; `proofgate diff OLD NEW` compares them"
      ]
    }
    return PolicyDifference(
      from: Evaluator(old), to: Evaluator(new), maximumClients: maximumComparedClients
    ).lines(limit: maximumLines)
  }
}
