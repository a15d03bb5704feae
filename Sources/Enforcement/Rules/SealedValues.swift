import OAuth
import Policy

// Rules about the owner, the age and the policy of sealed values: a transaction, a code, a refresh token.

extension Rule where Context == TransactionContext {
  /// `I-browser`; RFC 6749, section 10.12.
  static var transactionOfThisBrowser: Rule {
    Rule(name: "the browser is the one that began") { context in
      context.browserMatches ? .pass : .refuse(.browserUnbound)
    }
  }

  /// A request that lies around could be finished by somebody else.
  static var transactionNotExpired: Rule {
    Rule(name: "the transaction has not expired") { context in
      context.now < context.transaction.expiry ? .pass : .refuse(.transactionExpired)
    }
  }

  /// `I-completion`: client, redirect URI and upstream identifier are compared with the policy of now.
  static var transactionStillAuthorized: Rule {
    Rule(name: "the policy of now still allows the answer") { context in
      context.redirect == nil ? .refuse(.transactionOutdated) : .pass
    }
  }
}

extension Rule where Context == RedemptionContext {
  /// RFC 6749, section 4.1.3: the verifier alone does not make a code somebody else's.
  static var codeOfThisClient: Rule {
    Rule(name: "the code was issued to this client") { context in
      context.code.clientID == context.intent.client.id ? .pass : .refuse(.codeIssuedToOtherClient)
    }
  }

  /// RFC 6749, section 4.1.2. No allowance for clocks: a code lives a minute.
  static var codeNotExpired: Rule {
    Rule(name: "the code has not expired") { context in
      context.now < context.code.expiry ? .pass : .refuse(.codeExpired)
    }
  }

  /// `I-credentials`: the upstream secret is for the client's own codes.
  static var codeStillAuthorized: Rule {
    Rule(name: "the policy still gives the client these credentials") { context in
      guard context.code.upstreamClientID == context.intent.client.upstream.clientID else {
        return .refuse(.codeOutdated)
      }
      // OAuth 2.1, section 4.1.3: a code that was given without a challenge before the profile was set.
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

  /// RFC 9700, section 4.14.2: each refresh gives a new token, so the age of a token is the time without use.
  static var refreshTokenNotExpired: Rule {
    Rule(name: "the refresh token was used lately") { context in
      let lifetime = Int64(context.intent.client.refreshIdle)
      return context.now < context.grant.issuedAt + lifetime ? .pass : .refuse(.refreshTokenExpired)
    }
  }

  /// `I-credentials`: the upstream secret is for the client's own refresh tokens.
  static var refreshTokenStillAuthorized: Rule {
    Rule(name: "the policy still gives the client these credentials") { context in
      context.grant.upstreamClientID == context.intent.client.upstream.clientID ? .pass : .refuse(.refreshTokenOutdated)
    }
  }
}
