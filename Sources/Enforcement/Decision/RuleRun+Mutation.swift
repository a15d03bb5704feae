#if DEBUG
import FoundationEssentials

extension RuleRun {
  /// The identity of the rule that this process skips; `nil` if it skips none. `make mutation` sets the environment
  /// variable to one rule after the other, and checks that some test fails if the rule is skipped. Release builds do
  /// not contain this property.
  static let skippedRule = ProcessInfo.processInfo.environment["PROOFGATE_SKIPPED_RULE"]
}
#endif

extension RuleRun {
  /// Returns true if the rule is `skippedRule`; always false in release builds.
  @inline(__always)
  static func isSkippedByMutationTest<Context>(_ rule: borrowing Rule<Context>) -> Bool {
    #if DEBUG
    guard let skippedRule else { return false }
    return skippedRule == rule.identity
    #else
    return false
    #endif
  }
}
