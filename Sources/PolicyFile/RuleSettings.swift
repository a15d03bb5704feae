import OAuth
import Policy

/// The settings that `enforcement:` gives for all clients and each client may give for itself.
struct RuleSettings {
  var mode = Mode.enforce
  var profile = Profile.standard
  var pkceMethods: Set<CodeChallengeMethod> = [.s256]
  var pkceSyntax = PKCESyntax.strict
  var state = StateRule.report
  var localhost = LocalhostRule.exact
  var schemes = SchemeRule.strict
  var embeddedUserAgents = EmbeddedUserAgentRule.report
  /// Seconds.
  var codeLifetime = 60
  /// Seconds.
  var deviceCodeLifetime = 600
  /// Seconds; 0 is off.
  var refreshReuseWindow = 0
  /// Seconds.
  var refreshIdle = 90 * 86_400
  /// Seconds since 1970; `nil` is never.
  var rawRefreshUntil: Int64?
  var pushedAuthorization = PushedAuthorizationRule.off
  var fragmentGuard = false
}

/// One of them.
enum RuleKey {
  case mode
  case profile
  case pkceMethods
  case pkceSyntax
  case state
  case localhost
  case schemes
  case embeddedUserAgents
  case codeLifetime
  case deviceCodeLifetime
  case refreshReuseWindow
  case refreshIdle
  case rawRefreshUntil
  case pushedAuthorization
  case fragmentGuard
}
