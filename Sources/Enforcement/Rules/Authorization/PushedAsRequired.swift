import OAuth
import Policy

extension Rule where Context == AuthorizationContext {
  /// RFC 9126, section 6.
  static var pushedAsRequired: Rule {
    Rule(name: "the request was pushed where it has to be") { context in
      guard context.client?.pushedAuthorization == .required, !context.isPushed else { return .pass }
      return .refuse(.pushedRequired)
    }
  }
}
