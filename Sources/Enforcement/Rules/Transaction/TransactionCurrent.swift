import OAuth

extension Rule where Context == TransactionContext {
  /// `I-completion`: client, redirect URI and upstream identifier are compared with the policy of now.
  static var transactionCurrent: Rule {
    Rule(name: "the policy of now still allows the answer") { context in
      context.redirect == nil ? .refuse(.transactionOutdated) : .pass
    }
  }
}
