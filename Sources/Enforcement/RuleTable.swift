/// Which rules run at which endpoint, in which order. The first that refuses decides the answer.
enum RuleTable {
  /// First what makes the request one request, then the client, then the redirect URI: their refusals are pages. All that
  /// comes after may be told to the client by a redirect (RFC 6749, section 4.1.2.1).
  static let authorization: [Rule<AuthorizationContext>] = [
    .methodIsTaken,
    .oneSetOfParameters,
    .namesMeanOneThing,
    .clientIDOnce,
    .redirectURIOnce,
    .clientKnown,
    .redirectURIVerified,
    .userAgentExternal,
    .parametersOnce,
    .parametersWellFormed,
    .stateIsTheClients,
    .noRequestObject,
    .pushedAsRequired,
    .responseTypeIsCode,
    .authorizationGrantAllowed,
    .responseModeAllowed,
    .challengePresent,
    .challengeMethodAllowed,
    .challengeWellFormed,
    .scopeWellFormed,
    .promptAllowed,
    .statePresent,
    .scopeDropNoted,
    .resourceNoted,
    .detailsNoted,
  ]

  /// What is checked of a pushed request before the rules of the authorization endpoint (RFC 9126, section 2.1).
  static let pushed: [Rule<TokenContext>] = [
    .tokenMethodIsPost,
    .tokenBodyIsForm,
    .tokenNamesMeanOneThing,
    .tokenParametersOnce,
    .tokenParametersWellFormed,
    .oneAuthenticationMethod,
    .tokenClientKnown,
    .clientAuthenticated,
    .noSenderConstraint,
    .pushedRequestsTaken,
    .noReferencePushed,
  ]

  /// What is checked of a request that refers to a pushed one; everything else that it says is not looked at (RFC 9126,
  /// section 4).
  static let reference: [Rule<AuthorizationContext>] = [
    .methodIsTaken,
    .oneSetOfParameters,
    .namesMeanOneThing,
    .clientIDOnce,
    .clientKnown,
  ]

  /// What can be said before the code or token is opened.
  static let token: [Rule<TokenContext>] = [
    .tokenMethodIsPost,
    .tokenBodyIsForm,
    .tokenNamesMeanOneThing,
    .tokenParametersOnce,
    .tokenParametersWellFormed,
    .oneAuthenticationMethod,
    .noPasswordGrant,
    .tokenClientKnown,
    .clientAuthenticated,
    .noSenderConstraint,
    .grantTypeKnown,
    .noClientCredentialsForPublic,
    .grantAllowed,
    .grantComplete,
    .verifierWellFormed,
    .tokenScopeWellFormed,
    .clientCertificateNoted,
    .tokenScopeDropNoted,
    .tokenResourceNoted,
    .tokenDetailsNoted,
  ]

  /// What is checked against the opened code, before anything is sent upstream.
  static let redemption: [Rule<RedemptionContext>] = [
    .codeOfThisClient,
    .codeFresh,
    .codeCurrent,
    .codeRedirectURISame,
    .verifierMatches,
  ]

  /// What is checked against the opened refresh token.
  static let refresh: [Rule<RefreshContext>] = [
    .refreshTokenOfThisClient,
    .refreshTokenFresh,
    .refreshTokenCurrent,
    .refreshScopeWithin,
  ]

  /// What is checked whenever a sealed state comes back.
  static let transaction: [Rule<TransactionContext>] = [
    .transactionOfThisBrowser,
    .transactionFresh,
    .transactionCurrent,
  ]

  /// What is checked of the request that a login or consent page sends back.
  static let reentry: [Rule<ReentryContext>] = [
    .reentryUserAgentExternal,
    .reentryReadable,
    .reentryCarriesNoAnswer,
    .reentryUnchanged,
    .reentryScopeWithin,
  ]

  /// What is checked on the upstream's other pages, while a transaction runs.
  static let interaction: [Rule<InteractionContext>] = [
    .interactionUserAgentExternal
  ]
}
