/// The rules of each endpoint, in the order in which they run. In enforce mode, the first rule that refuses determines
/// the response.
///
/// Each column is one of the lists below. From left to right: `authorization`, `pushed`, `reference`, `token`,
/// `redemption`, `refresh`, `transaction`, `reentry`, `interaction` and `introspection`. A number is the position of the rule in that
/// list.
/// ```
///                                                            aut pus ref tok dev pol red rfr tra ree int isp
/// the endpoint accepts the method                              1   1   1   1   1                           1
/// there is a single set of parameters                          2   2   2   2   2                           2
/// every parameter name means one thing                         3   3   3   3   3                           3
/// client_id occurs once                                        4       4
/// redirect_uri occurs once                                     5
/// the client is registered                                     6   7   5   8   7
/// the redirect URI is registered                               7
/// the user agent does not look embedded                        8
/// no parameter repeats                                         9   4       4   4                           4
/// every parameter can be decoded                              10   5       5   5                           5
/// state was not sealed by the gateway                         11
/// no request object replaces the parameters                   12
/// the request was pushed if the client has to push it         13
/// response_type is code                                       14
/// the client may use the authorization code grant             15
/// the response mode is allowed                                16
/// a code challenge is present                                 17
/// the challenge method is allowed                             18
/// the challenge can match a verifier                          19
/// scope is a list of scope tokens                             20          16  11
/// the client may request the scope                            21          17
/// a scope limits the token of an unlisted client              22
/// the resource is listed                                      23          18  12
/// the scope selects no other resource                         24          19  13
/// prompt does not skip the consent page                       25
/// state is present                                            26
/// a scope that is not forwarded is noted                      27          21  15
/// a resource that is not forwarded is noted                   28          22  16
/// authorization details that are not forwarded are noted      29          23  17
/// the client uses one authentication method                        6       6   6
/// a confidential client is authenticated                           8       9   8
/// the client does not request a token bound to its key             9      10   9
/// the client may push its requests                                10
/// the pushed request has no request_uri                           11
/// the grant is not the password grant                                      7
/// the grant type is known                                                 11
/// a public client does not use client credentials                         12
/// the client may use the grant                                            13
/// the parameter that the grant requires is present                        14
/// the code verifier is well-formed                                        15
/// a client certificate is noted, because it is not forwarded              20  14
/// the client may use the device grant                                         10
/// the device code was issued to this client                                        1
/// the device code has not expired                                                  2
/// the policy still gives the client these credentials                              3   3   3
/// the policy still lists the resource                                              4   4   4
/// resource is that of the authorization request                                    5   8   6
/// the code was issued to this client                                                   1
/// the code has not expired                                                             2
/// redirect_uri equals that of the authorization request                                5
/// the verifier matches the challenge                                                   6
/// the old version of an app authenticates                                              7
/// the refresh token was issued to this client                                              1
/// the refresh token was used recently                                                      2
/// scope is not widened                                                                     5
/// the browser is the one that began the transaction                                            1
/// the transaction has not expired                                                              2
/// the current policy still permits the response                                                3
/// the user agent of a re-entry does not look embedded                                              1
/// every OAuth parameter can be read                                                                2
/// the request contains no response with a code                                                     3
/// the parameters that went upstream come back unchanged                                            4
/// a link has the parameters that limit the tokens                                                  5
/// scope is only narrowed                                                                           6
/// the user agent of an upstream page does not look embedded                                            1
/// the resource server uses one authentication method                                                       6
/// a resource server is authenticated                                                                       7
/// the token is present                                                                                     8
/// ```
enum RuleTable {
  /// The rules for an authorization request. The rules up to `redirectURIVerified` check the form of the request, the
  /// client and the redirect URI. Their errors are shown on a page. A later rule may redirect its error to the client
  /// (RFC 6749, section 4.1.2.1).
  static let authorization: [Rule<AuthorizationContext>] = [
    .methodAllowed,
    .oneSetOfParameters,
    .parameterNamesUnambiguous,
    .clientIDOnce,
    .redirectURIOnce,
    .clientKnown,
    .redirectURIVerified,
    .userAgentExternal,
    .parametersOnce,
    .parametersWellFormed,
    .stateNotSealed,
    .noRequestObject,
    .pushedIfRequired,
    .responseTypeIsCode,
    .authorizationCodeGrantAllowed,
    .responseModeAllowed,
    .challengePresent,
    .challengeMethodAllowed,
    .challengeWellFormed,
    .scopeWellFormed,
    .scopeAllowed,
    .limitedScopeSent,
    .resourceListed,
    .scopeOfRequestedResource,
    .promptAllowed,
    .statePresent,
    .droppedScopeNoted,
    .droppedResourceNoted,
    .droppedAuthorizationDetailsNoted,
  ]

  /// The rules that a pushed request must pass before the rules of the authorization endpoint run (RFC 9126, section
  /// 2.1).
  static let pushed: [Rule<TokenContext>] = [
    .methodAllowed,
    .oneSetOfParameters,
    .parameterNamesUnambiguous,
    .parametersOnce,
    .parametersWellFormed,
    .oneAuthenticationMethod,
    .tokenClientKnown,
    .clientAuthenticated,
    .noDPoPProof,
    .clientMayPush,
    .noRequestURIPushed,
  ]

  /// The rules for an authorization request that refers to a pushed one. The gateway ignores all parameters of the
  /// referring request except `client_id` and `request_uri` (RFC 9126, section 4).
  static let reference: [Rule<AuthorizationContext>] = [
    .methodAllowed,
    .oneSetOfParameters,
    .parameterNamesUnambiguous,
    .clientIDOnce,
    .clientKnown,
  ]

  /// The rules for a token request. They run before those for the content of its sealed code (`redemption`) or sealed
  /// refresh token (`refresh`).
  static let token: [Rule<TokenContext>] = [
    .methodAllowed,
    .oneSetOfParameters,
    .parameterNamesUnambiguous,
    .parametersOnce,
    .parametersWellFormed,
    .oneAuthenticationMethod,
    .noPasswordGrant,
    .tokenClientKnown,
    .clientAuthenticated,
    .noDPoPProof,
    .grantTypeKnown,
    .noClientCredentialsForPublic,
    .grantAllowed,
    .requiredGrantParameterPresent,
    .verifierWellFormed,
    .scopeWellFormed,
    .scopeAllowed,
    .tokenResourceListed,
    .scopeOfRequestedResource,
    .clientCertificateNoted,
    .droppedScopeNoted,
    .droppedResourceNoted,
    .droppedAuthorizationDetailsNoted,
  ]

  /// The rules for a device authorization request (RFC 8628, section 3.1).
  static let device: [Rule<TokenContext>] = [
    .methodAllowed,
    .oneSetOfParameters,
    .parameterNamesUnambiguous,
    .parametersOnce,
    .parametersWellFormed,
    .oneAuthenticationMethod,
    .tokenClientKnown,
    .clientAuthenticated,
    .noDPoPProof,
    .deviceGrantAllowed,
    .scopeWellFormed,
    .tokenResourceListed,
    .scopeOfRequestedResource,
    .clientCertificateNoted,
    .droppedScopeNoted,
    .droppedResourceNoted,
    .droppedAuthorizationDetailsNoted,
  ]

  /// The rules for the poll of a device, after the gateway has decrypted the device code.
  static let devicePoll: [Rule<DevicePollContext>] = [
    .deviceCodeIssuedToThisClient,
    .deviceCodeNotExpired,
    .deviceCodeStillAuthorized,
    .deviceResourceListed,
    .resourceGranted,
  ]

  /// The rules for the redemption of a code, after the gateway has decrypted it and before it sends a request upstream.
  static let redemption: [Rule<RedemptionContext>] = [
    .codeIssuedToThisClient,
    .codeNotExpired,
    .codeStillAuthorized,
    .codeResourceListed,
    .redirectURIMatchesAuthorizationRequest,
    .verifierMatches,
    .oldVersionAuthenticated,
    .resourceGranted,
  ]

  /// The rules for a sealed refresh token, after the gateway has decrypted it.
  static let refresh: [Rule<RefreshContext>] = [
    .refreshTokenIssuedToThisClient,
    .refreshTokenNotExpired,
    .refreshTokenStillAuthorized,
    .refreshResourceListed,
    .refreshScopeNotWidened,
    .resourceGranted,
  ]

  /// The rules for a transaction whose sealed state comes back, either in a re-entry (see `reentry`) or in an
  /// authorization response of the upstream.
  static let transaction: [Rule<TransactionContext>] = [
    .transactionBegunByThisBrowser,
    .transactionNotExpired,
    .transactionStillAuthorized,
  ]

  /// The rules for a re-entry: a request that a login or consent page of the upstream sends to the authorization
  /// endpoint, with the sealed state.
  static let reentry: [Rule<ReentryContext>] = [
    .reentryUserAgentExternal,
    .reentryReadable,
    .reentryContainsNoResponse,
    .reentryUnchanged,
    .reentryLinkComplete,
    .reentryScopeNotWidened,
  ]

  /// The rules for a request at the gateway's own introspection endpoint (RFC 7662, section 2.1).
  static let introspection: [Rule<IntrospectionContext>] = [
    .methodAllowed,
    .oneSetOfParameters,
    .parameterNamesUnambiguous,
    .parametersOnce,
    .parametersWellFormed,
    .oneResourceServerAuthentication,
    .resourceServerAuthenticated,
    .introspectedTokenPresent,
  ]

  /// The rules for requests that are not OAuth requests, such as a request for a login page, while the browser has a
  /// running transaction.
  static let interaction: [Rule<InteractionContext>] = [
    .interactionUserAgentExternal
  ]
}
