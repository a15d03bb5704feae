import OAuth

extension Rule where Context == TransactionContext {
  /// A request that lies around could be finished by somebody else.
  static var transactionFresh: Rule {
    Rule(name: "the transaction has not expired") { context in
      context.now < context.transaction.expiry ? .pass : .refuse(.transactionExpired)
    }
  }
}
