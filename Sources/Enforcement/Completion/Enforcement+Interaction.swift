import OAuth
import Policy

/// What a browser's transactions ask of it on every page in between.
public struct EmbeddedUserAgentGuard: Sendable, Hashable {
  /// True if embedded user agents are refused.
  public var blocks: Bool
  /// True if the app comes back by `msapp://`, with which the Windows Web Authentication Broker is an external user agent
  /// (RFC 8252, appendix B.3).
  public var usesBroker: Bool

  public init(blocks: Bool = false, usesBroker: Bool = false) {
    self.blocks = blocks
    self.usesBroker = usesBroker
  }

  /// What both ask for.
  public func union(_ other: EmbeddedUserAgentGuard) -> EmbeddedUserAgentGuard {
    EmbeddedUserAgentGuard(blocks: blocks || other.blocks, usesBroker: usesBroker || other.usesBroker)
  }
}

/// What the rules look at on a page of the upstream's that the gateway only passes: a login page on a path of its own.
struct InteractionContext: Sendable {
  let userAgent: String
  let userAgentGuard: EmbeddedUserAgentGuard
}

extension Enforcement {
  /// Decides a request in a transaction that is not at an endpoint; `nil`: nothing speaks against it.
  ///
  /// - Parameters:
  ///   - userAgent: The value of `User-Agent`; empty without one.
  ///   - guarding: What the browser's cookie says.
  public static func decideInteraction(userAgent: String, userAgentGuard: EmbeddedUserAgentGuard) -> RejectionResponse?
  {
    // Only clients that enforce set the guard.
    var run = RuleRun(mode: .enforce)
    let context = InteractionContext(userAgent: userAgent, userAgentGuard: userAgentGuard)
    guard case .refused(let rejection, let detail) = run.run(RuleTable.interaction, on: context) else { return nil }
    return RejectionResponse(rejection, detail: detail)
  }
}

extension AuthorizationPermit {
  /// What the transaction asks of the pages in between.
  public var interactionGuard: EmbeddedUserAgentGuard {
    EmbeddedUserAgentGuard(blocks: client.blocksEmbeddedUserAgents, usesBroker: redirectURI.kind == .broker)
  }
}
