import OAuth
import Policy
import Time

// Rules on the content of sealed values (transactions, codes and refresh tokens): their owner, their age, and whether
// the current policy still permits them.

extension Rule where Context == TransactionContext {
  /// A transaction continues and ends only in the browser in which it began (invariant `I-browser`; RFC 6749, section
  /// 10.12).
  static var transactionBegunByThisBrowser: Rule {
    Rule(name: "the browser is the one that began the transaction", source: "invariant I-browser") { context in
      context.browserMatches ? .pass : .refuse(.browserMismatch)
    }
  }

  /// The expiry limits the time in which another person at the same browser could finish the sign-in.
  static var transactionNotExpired: Rule {
    Rule(name: "the transaction has not expired") { context in
      context.now < context.transaction.expiry ? .pass : .refuse(.transactionExpired)
    }
  }

  /// The policy may have changed since the transaction began (invariant `I-completion`). `context.redirect` is `nil` if
  /// the current policy does not permit the response.
  static var transactionStillAuthorized: Rule {
    Rule(name: "the current policy still permits the response", source: "invariant I-completion") { context in
      context.redirect == nil ? .refuse(.transactionNoLongerValid) : .pass
    }
  }
}

extension Rule where Context == RedemptionContext {
  /// RFC 6749, section 4.1.3. A code that was issued to another client is refused, even with the right verifier. A code
  /// names a registered client by a digest of its id.
  static var codeIssuedToThisClient: Rule {
    Rule(name: "the code was issued to this client", source: "RFC 6749, section 4.1.3") { context in
      context.code.clientID == context.request.client.id.shortForm ? .pass : .refuse(.codeIssuedToOtherClient)
    }
  }

  /// RFC 6749, section 4.1.2. No tolerance for differences between clocks is added to the expiry, because such a
  /// tolerance would be long in comparison with the default lifetime of a minute.
  static var codeNotExpired: Rule {
    Rule(name: "the code has not expired", source: "RFC 6749, section 4.1.2") { context in
      context.now < context.code.expiry ? .pass : .refuse(.codeExpired)
    }
  }

  /// The gateway uses an upstream secret only for codes that were issued to the upstream id that the client has now
  /// (invariant `I-credentials`). The scope tokens of clients that the policy does not list may have become fewer since
  /// the code was issued.
  static var codeStillAuthorized: Rule {
    Rule(name: "the policy still gives the client these credentials", source: "invariant I-credentials") { context in
      guard context.code.upstreamClientID == context.request.client.upstream.clientID,
        context.request.client.registration != .undescribed,
        context.code.scope?.limited(to: context.request.client.allowedScopes) == context.code.scope
      else { return .refuse(.codeOutdated) }
      // OAuth 2.1, section 4.1.3. The code may have been issued without a challenge before the operator set the profile
      // of the client. A confidential client that checks the `nonce` of ID tokens may omit the challenge.
      let client = context.request.client
      let needsChallenge = client.profile == .oauth21 && !(client.kind == .confidential && client.reliesOnNonce)
      return needsChallenge && context.code.challenge == nil ? .refuse(.codeOutdated) : .pass
    }
  }
}

extension Rule where Context == RefreshContext {
  /// RFC 6749, sections 6 and 10.4.
  static var refreshTokenIssuedToThisClient: Rule {
    Rule(name: "the refresh token was issued to this client", source: "RFC 6749, sections 6 and 10.4") { context in
      context.grant.clientID == context.request.client.id ? .pass : .refuse(.refreshTokenIssuedToOtherClient)
    }
  }

  /// RFC 9700, section 4.14.2. Each refresh issues a new sealed token, so the age of the token is the time without use.
  /// The shorter time counts: that of the policy, or that of the token when it was issued.
  static var refreshTokenNotExpired: Rule {
    Rule(name: "the refresh token was used recently", source: "RFC 9700, section 4.14.2") { context in
      let end = context.grant.issuedAt + min(context.request.client.refreshIdle, context.grant.idleLifetime)
      return context.now < end ? .pass : .refuse(.refreshTokenExpired)
    }
  }

  /// The gateway uses an upstream secret only for refresh tokens that were issued to the upstream id that the client
  /// has now (invariant `I-credentials`). The policy may permit none of the scope tokens to the client any more. A
  /// grant of unknown scope, from an older version, may contain any scope token, so a limited client signs in again. So
  /// does a client that was listed when the token was issued, and that only a metadata document describes now.
  static var refreshTokenStillAuthorized: Rule {
    Rule(name: "the policy still gives the client these credentials", source: "invariant I-credentials") { context in
      let client = context.request.client
      guard client.allowedScopes == nil || context.grant.scope != nil, client.registration != .undescribed else {
        return .refuse(.refreshTokenOutdated)
      }
      let isNarrowed = context.grant.scope?.limited(to: client.allowedScopes) != context.grant.scope
      // Without a scope in the request, the upstream would renew the whole grant.
      let hasScope = !isNarrowed || context.upstreamScope != nil
      return context.grant.upstreamClientID == client.upstream.clientID && hasScope
        ? .pass : .refuse(.refreshTokenOutdated)
    }
  }
}
