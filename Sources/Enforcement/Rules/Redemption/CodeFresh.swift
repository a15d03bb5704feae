import OAuth

extension Rule where Context == RedemptionContext {
  /// RFC 6749, section 4.1.2. No allowance for clocks: a code lives a minute.
  static var codeFresh: Rule {
    Rule(name: "the code has not expired") { context in
      context.now < context.code.expiry ? .pass : .refuse(.codeExpired)
    }
  }
}
