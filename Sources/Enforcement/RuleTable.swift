/// Which rules run at which endpoint, in which order. The first that refuses decides the answer.
///
/// The number is the place of a rule in the list of its column: `authorization`, `pushed`, `reference`, `token`,
/// `redemption`, `refresh`, `transaction`, `reentry`, `interaction`.
/// ```
///                                                                aut pus ref tok red rfr tra ree int
/// the endpoint takes the method                                    1   1   1   1
/// there is one set of parameters                                   2   2   2   2
/// every parameter name means one thing                             3   3   3   3
/// client_id occurs once                                            4       4
/// redirect_uri occurs once                                         5
/// the client is registered                                         6   7   5   8
/// the redirect URI is a registered one                             7
/// the user agent does not look embedded                            8
/// no parameter repeats                                             9   4       4
/// every parameter decodes                                         10   5       5
/// state is the client's own                                       11
/// no request object replaces the parameters                       12
/// the request was pushed where it has to be                       13
/// response_type is code                                           14
/// the client may use the authorization code grant                 15
/// the response mode is allowed                                    16
/// there is a code challenge                                       17
/// the challenge method is allowed                                 18
/// the challenge can match a verifier                              19
/// scope is a list of scope tokens                                 20          16
/// prompt does not skip the user                                   21
/// there is a state                                                22
/// a scope that does not go upstream is noted                      23          18
/// a resource that does not go upstream is noted                   24          19
/// authorization details that do not go upstream are noted         25          20
/// the client authenticates in one way                                  6       6
/// a confidential client proves itself                                  8       9
/// the client does not ask for a token that is bound to its key         9      10
/// the client may push its requests                                    10
/// the pushed request refers to nothing                                11
/// the grant is not the password grant                                          7
/// the grant type is a known one                                               11
/// a public client does not use client credentials                             12
/// the client may use the grant                                                13
/// the grant's own parameter is there                                          14
/// the code verifier is well-formed                                            15
/// a client certificate is noted, because it does not go upstream              17
/// the code was issued to this client                                               1
/// the code has not expired                                                         2
/// the policy still gives the client these credentials                              3   3
/// redirect_uri is the one of the authorization request                             4
/// the verifier is the one behind the challenge                                     5
/// the refresh token was issued to this client                                          1
/// the refresh token was used lately                                                    2
/// scope does not grow                                                                  4
/// the browser is the one that began                                                        1
/// the transaction has not expired                                                          2
/// the policy of now still allows the answer                                                3
/// the user agent that came back does not look embedded                                         1
/// every OAuth parameter can be read                                                            2
/// no answer with a code comes in the request                                                   3
/// what went upstream comes back as it went                                                     4
/// scope only narrows                                                                           5
/// the user agent of a page in between does not look embedded                                       1
/// ```
enum RuleTable {
  /// First what makes the request one request, then the client, then the redirect URI: their refusals are pages. All that
  /// comes after may be told to the client by a redirect (RFC 6749, section 4.1.2.1).
  static let authorization: [Rule<AuthorizationContext>] = [
    .methodAllowed,
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
    .methodAllowed,
    .oneSetOfParameters,
    .namesMeanOneThing,
    .parametersOnce,
    .parametersWellFormed,
    .oneAuthenticationMethod,
    .tokenClientKnown,
    .clientAuthenticated,
    .noSenderConstraint,
    .clientMayPush,
    .noReferencePushed,
  ]

  /// What is checked of a request that refers to a pushed one; everything else that it says is not looked at (RFC 9126,
  /// section 4).
  static let reference: [Rule<AuthorizationContext>] = [
    .methodAllowed,
    .oneSetOfParameters,
    .namesMeanOneThing,
    .clientIDOnce,
    .clientKnown,
  ]

  /// What can be said before the code or token is opened.
  static let token: [Rule<TokenContext>] = [
    .methodAllowed,
    .oneSetOfParameters,
    .namesMeanOneThing,
    .parametersOnce,
    .parametersWellFormed,
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
    .scopeWellFormed,
    .clientCertificateNoted,
    .scopeDropNoted,
    .resourceNoted,
    .detailsNoted,
  ]

  /// What is checked against the opened code, before anything is sent upstream.
  static let redemption: [Rule<RedemptionContext>] = [
    .codeOfThisClient,
    .codeNotExpired,
    .codeStillAuthorized,
    .codeRedirectURISame,
    .verifierMatches,
  ]

  /// What is checked against the opened refresh token.
  static let refresh: [Rule<RefreshContext>] = [
    .refreshTokenOfThisClient,
    .refreshTokenNotExpired,
    .refreshTokenStillAuthorized,
    .refreshScopeWithin,
  ]

  /// What is checked whenever a sealed state comes back.
  static let transaction: [Rule<TransactionContext>] = [
    .transactionOfThisBrowser,
    .transactionNotExpired,
    .transactionStillAuthorized,
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
