import OAuth
import Policy
import Time

// Rules on the content of sealed values (transactions, codes and refresh tokens): their owner, their age, and whether
// the current policy still permits them.

extension Rule where Context == TransactionContext {
  /// Invariant `I-browser`; RFC 6749, section 10.12.
  static var transactionOfThisBrowser: Rule {
    Rule(name: "the browser is the one that began the transaction") { context in
      context.browserMatches ? .pass : .refuse(.browserUnbound)
    }
  }

  /// The expiry limits the time in which another person at the same browser could finish the sign-in.
  static var transactionNotExpired: Rule {
    Rule(name: "the transaction has not expired") { context in
      context.now < context.transaction.expiry ? .pass : .refuse(.transactionExpired)
    }
  }

  /// Invariant `I-completion`. The policy may have changed since the transaction began.
  static var transactionStillAuthorized: Rule {
    Rule(name: "the current policy still permits the response") { context in
      context.redirect == nil ? .refuse(.transactionNoLongerValid) : .pass
    }
  }
}

extension Rule where Context == RedemptionContext {
  /// RFC 6749, section 4.1.3. A code that was issued to another client is refused, even with the right verifier.
  static var codeOfThisClient: Rule {
    Rule(name: "the code was issued to this client") { context in
      context.code.clientID == context.request.client.id ? .pass : .refuse(.codeIssuedToOtherClient)
    }
  }

  /// RFC 6749, section 4.1.2. A code is valid only for a minute by default. So no tolerance for differences between
  /// clocks is added to its expiry.
  static var codeNotExpired: Rule {
    Rule(name: "the code has not expired") { context in
      context.now < context.code.expiry ? .pass : .refuse(.codeExpired)
    }
  }

  /// Invariant `I-credentials`. The gateway uses an upstream secret only for codes that were issued to the upstream id
  /// that the client has now.
  static var codeStillAuthorized: Rule {
    Rule(name: "the policy still gives the client these credentials") { context in
      guard context.code.upstreamClientID == context.request.client.upstream.clientID else {
        return .refuse(.codeOutdated)
      }
      // OAuth 2.1, section 4.1.3. The code may have been issued without a challenge before the profile was set.
      let client = context.request.client
      let needsChallenge = client.profile == .oauth21 && !(client.kind == .confidential && client.reliesOnNonce)
      return needsChallenge && context.code.challenge == nil ? .refuse(.codeOutdated) : .pass
    }
  }
}

extension Rule where Context == RefreshContext {
  /// RFC 6749, sections 6 and 10.4.
  static var refreshTokenOfThisClient: Rule {
    Rule(name: "the refresh token was issued to this client") { context in
      context.grant.clientID == context.request.client.id ? .pass : .refuse(.refreshTokenForeign)
    }
  }

  /// RFC 9700, section 4.14.2. Each refresh issues a new sealed token, so the age of the token is the time without use.
  static var refreshTokenNotExpired: Rule {
    Rule(name: "the refresh token was used recently") { context in
      let end = context.grant.issuedAt + context.request.client.refreshIdle
      return context.now < end ? .pass : .refuse(.refreshTokenExpired)
    }
  }

  /// Invariant `I-credentials`. The gateway uses an upstream secret only for refresh tokens that were issued to the
  /// upstream id that the client has now.
  static var refreshTokenStillAuthorized: Rule {
    Rule(name: "the policy still gives the client these credentials") { context in
      let upstreamClientID = context.request.client.upstream.clientID
      return context.grant.upstreamClientID == upstreamClientID ? .pass : .refuse(.refreshTokenOutdated)
    }
  }
}
