import OAuth
import Policy

extension Rule where Context == AuthorizationContext {
  /// RFC 6749, sections 3.1 and 4.1.2.1: without a certain client there is nobody to redirect to. Identifiers are printable
  /// ASCII (appendix A.1), so no other spelling of one exists.
  static var clientIDOnce: Rule {
    Rule(name: "client_id occurs once") { context in
      switch context.parameters.reading(.clientID) {
      case .repeated: .refuse(.clientIDRepeated)
      case .malformed: .refuse(.clientIDMalformed)
      case .value(let text) where !Client.isIdentifier(text): .refuse(.clientIDMalformed)
      case .value, .absent: .pass
      }
    }
  }
}
