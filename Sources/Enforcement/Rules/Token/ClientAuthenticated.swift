import OAuth
import Policy

extension Rule where Context == TokenContext {
  /// RFC 6749, sections 2.3 and 2.3.1. A public client's secret is in every copy of the app and proves nothing (RFC 8252,
  /// section 8.5), so it is neither needed nor looked at.
  static var clientAuthenticated: Rule {
    Rule(name: "a confidential client proves itself") { context in
      guard let client = context.client else { return .pass }
      if client.kind == .public {
        return context.authentication?.secret == nil ? .pass : .note(.publicClientSecret)
      }
      return switch context.proof {
      case .missing: .refuse(.clientUnauthenticated)
      case .wrong: .refuse(.clientAuthenticationFailed)
      case .verified, .presented, .identified: .pass
      }
    }
  }
}
