import OAuth
import Policy

/// The way in which the user agent is checked on the upstream's pages while a transaction runs. The gateway keeps one
/// guard in a cookie of the browser. This guard combines the guards of all transactions of the browser.
public struct EmbeddedUserAgentGuard: Sendable, Hashable {
  /// True if embedded user agents are refused.
  public var blocks: Bool
  /// True if the response of a transaction goes to `msapp://`. The Windows Web Authentication Broker then counts as an
  /// external user agent (RFC 8252, appendix B.3).
  public var usesBroker: Bool

  /// Creates a guard. Without arguments, it restricts nothing.
  public init(blocks: Bool = false, usesBroker: Bool = false) {
    self.blocks = blocks
    self.usesBroker = usesBroker
  }

  /// Returns a guard that combines both: it blocks embedded user agents if one of the two does, and accepts the broker
  /// if one of the two does.
  public func union(_ other: EmbeddedUserAgentGuard) -> EmbeddedUserAgentGuard {
    EmbeddedUserAgentGuard(blocks: blocks || other.blocks, usesBroker: usesBroker || other.usesBroker)
  }
}

/// The facts for the rules on a request that the gateway only forwards: a request for a page of the upstream, such as a
/// login page.
struct InteractionContext: Sendable {
  let userAgent: String
  let userAgentGuard: EmbeddedUserAgentGuard
}

extension Enforcement {
  /// Decides a request that belongs to a sign-in but is not an OAuth request, such as a request for a login page.
  /// Returns `nil` if no rule refuses it.
  ///
  /// - Parameters:
  ///   - userAgent: The value of `User-Agent`; empty if the request has none.
  ///   - userAgentGuard: The guard in the browser's cookie.
  public static func decideInteraction(userAgent: String, userAgentGuard: EmbeddedUserAgentGuard) -> RejectionResponse?
  {
    // Only a transaction of a client that the policy enforces sets a guard, so no client is observed here.
    var run = RuleRun(mode: .enforce)
    let context = InteractionContext(userAgent: userAgent, userAgentGuard: userAgentGuard)
    guard case .refused(let rejection, let detail) = run.run(RuleTable.interaction, on: context) else { return nil }
    return RejectionResponse(rejection, detail: detail)
  }
}

extension AuthorizationPermit {
  /// The guard that the transaction adds to the browser's cookie.
  public var userAgentGuard: EmbeddedUserAgentGuard {
    EmbeddedUserAgentGuard(blocks: client.blocksEmbeddedUserAgents, usesBroker: redirectURI.kind == .windowsBroker)
  }
}
