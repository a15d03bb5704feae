import OAuth
import Policy

// Rules on the owner and the age of sealed values (transactions, codes, refresh tokens), and on their validity under
// the current policy.

extension Rule where Context == TransactionContext {
  /// `I-browser`; RFC 6749, section 10.12.
  static var transactionOfThisBrowser: Rule {
    Rule(name: "the browser is the one that began the transaction") { context in
      context.browserMatches ? .pass : .refuse(.browserUnbound)
    }
  }

  /// Another person could finish a request that stays open for long.
  static var transactionNotExpired: Rule {
    Rule(name: "the transaction has not expired") { context in
      context.now < context.transaction.expiry ? .pass : .refuse(.transactionExpired)
    }
  }

  /// `I-completion`: the client, the redirect URI and the upstream identifier are compared with the current policy.
  static var transactionStillAuthorized: Rule {
    Rule(name: "the current policy still permits the response") { context in
      context.redirect == nil ? .refuse(.transactionOutdated) : .pass
    }
  }
}

extension Rule where Context == RedemptionContext {
  /// RFC 6749, section 4.1.3: the code of another client is refused even with the right verifier.
  static var codeOfThisClient: Rule {
    Rule(name: "the code was issued to this client") { context in
      context.code.clientID == context.intent.client.id ? .pass : .refuse(.codeIssuedToOtherClient)
    }
  }

  /// RFC 6749, section 4.1.2. No tolerance for clock differences: a code is valid for a minute by default.
  static var codeNotExpired: Rule {
    Rule(name: "the code has not expired") { context in
      context.now < context.code.expiry ? .pass : .refuse(.codeExpired)
    }
  }

  /// `I-credentials`: the upstream secret may only be used for codes of the client's current upstream identifier.
  static var codeStillAuthorized: Rule {
    Rule(name: "the policy still gives the client these credentials") { context in
      guard context.code.upstreamClientID == context.intent.client.upstream.clientID else {
        return .refuse(.codeOutdated)
      }
      // OAuth 2.1, section 4.1.3: refuses a code that was issued without a challenge before the profile was set.
      let client = context.intent.client
      let needsChallenge = client.profile == .oauth21 && !(client.kind == .confidential && client.reliesOnNonce)
      return needsChallenge && context.code.challenge == nil ? .refuse(.codeOutdated) : .pass
    }
  }
}

extension Rule where Context == RefreshContext {
  /// RFC 6749, sections 6 and 10.4.
  static var refreshTokenOfThisClient: Rule {
    Rule(name: "the refresh token was issued to this client") { context in
      context.grant.clientID == context.intent.client.id ? .pass : .refuse(.refreshTokenForeign)
    }
  }

  /// RFC 9700, section 4.14.2: each refresh issues a new token, so the age of a token is the time without use.
  static var refreshTokenNotExpired: Rule {
    Rule(name: "the refresh token was used recently") { context in
      let lifetime = Int64(context.intent.client.refreshIdle)
      return context.now < context.grant.issuedAt + lifetime ? .pass : .refuse(.refreshTokenExpired)
    }
  }

  /// `I-credentials`: the upstream secret may only be used for refresh tokens of the client's current upstream
  /// identifier.
  static var refreshTokenStillAuthorized: Rule {
    Rule(name: "the policy still gives the client these credentials") { context in
      context.grant.upstreamClientID == context.intent.client.upstream.clientID ? .pass : .refuse(.refreshTokenOutdated)
    }
  }
}
