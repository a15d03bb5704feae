import OAuth
import Policy

extension Rule where Context == TokenContext {
  /// RFC 9126, sections 2 and 2.3. The proof of a client that only the upstream can check is none here: the request never
  /// goes there.
  static var pushedRequestsTaken: Rule {
    Rule(name: "the client may push its requests") { context in
      guard let client = context.client else { return .pass }
      let isProven = context.proof == .identified || context.proof == .verified
      return isProven && client.pushedAuthorization != .off ? .pass : .refuse(.pushedNotAllowed)
    }
  }
}
