import OAuth

extension Rule where Context == TransactionContext {
  /// `I-browser`; RFC 6749, section 10.12.
  static var transactionOfThisBrowser: Rule {
    Rule(name: "the browser is the one that began") { context in
      context.browserMatches ? .pass : .refuse(.browserUnbound)
    }
  }
}
