import OAuth
import Policy

/// The restrictions that the transactions of a browser put on every page between request and completion.
public struct EmbeddedUserAgentGuard: Sendable, Hashable {
  /// True if embedded user agents are refused.
  public var blocks: Bool
  /// True if the app receives its response at `msapp://`, for which the Windows Web Authentication Broker is an
  /// external user agent (RFC 8252, appendix B.3).
  public var usesBroker: Bool

  /// Creates a guard; without arguments, it restricts nothing.
  public init(blocks: Bool = false, usesBroker: Bool = false) {
    self.blocks = blocks
    self.usesBroker = usesBroker
  }

  /// The restrictions of both guards.
  public func union(_ other: EmbeddedUserAgentGuard) -> EmbeddedUserAgentGuard {
    EmbeddedUserAgentGuard(blocks: blocks || other.blocks, usesBroker: usesBroker || other.usesBroker)
  }
}

/// The facts for the rules on an upstream page that the gateway only forwards, such as a login page.
struct InteractionContext: Sendable {
  let userAgent: String
  let userAgentGuard: EmbeddedUserAgentGuard
}

extension Enforcement {
  /// Decides a request that belongs to a transaction but is not for an endpoint; `nil` if no rule refuses it.
  ///
  /// - Parameters:
  ///   - userAgent: The value of `User-Agent`; empty if the request has none.
  ///   - guarding: The guard in the browser's cookie.
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
  /// The restrictions that the transaction puts on the pages between request and completion.
  public var interactionGuard: EmbeddedUserAgentGuard {
    EmbeddedUserAgentGuard(blocks: client.blocksEmbeddedUserAgents, usesBroker: redirectURI.kind == .broker)
  }
}
