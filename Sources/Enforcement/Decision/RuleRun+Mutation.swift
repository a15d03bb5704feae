#if DEBUG
import FoundationEssentials

extension RuleRun {
  /// The identity of the rule that this process skips, or `nil`. `make mutation` sets it to check that the tests fail
  /// if a rule is missing. Release builds do not contain this.
  static let skippedRule = ProcessInfo.processInfo.environment["PROOFGATE_SKIPPED_RULE"]
}
#endif

extension RuleRun {
  /// True if the mutation check has disabled the rule.
  @inline(__always)
  static func skips<Context>(_ rule: borrowing Rule<Context>) -> Bool {
    #if DEBUG
    guard let skippedRule else { return false }
    return skippedRule == rule.identity
    #else
    return false
    #endif
  }
}
