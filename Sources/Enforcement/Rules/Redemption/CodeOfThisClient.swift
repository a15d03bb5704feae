import OAuth
import Policy

extension Rule where Context == RedemptionContext {
  /// RFC 6749, section 4.1.3: the verifier alone does not make a code somebody else's.
  static var codeOfThisClient: Rule {
    Rule(name: "the code was issued to this client") { context in
      context.code.clientID == context.intent.client.id ? .pass : .refuse(.codeForeign)
    }
  }
}
