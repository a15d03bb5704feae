/// What a refusal says of itself.
extension Rejection {
  /// The words of `error_description`, in its character set.
  public var errorDescription: String {
    switch self {
    case .methodNotAllowed:
      "method not allowed here"
    case .bodyType:
      "the body must be application/x-www-form-urlencoded"
    case .parametersTooMany:
      "too many parameters"
    case .parametersSplit:
      "parameters in both the query and the body"
    case .parameterNameMalformed:
      "a parameter name cannot be decoded"
    case .parameterSpelling:
      "a parameter in a second spelling"
    case .clientIDRepeated:
      "client_id must occur once"
    case .clientIDMalformed:
      "client_id cannot be decoded"
    case .redirectURIRepeated:
      "redirect_uri must occur once"
    case .redirectURIMalformed:
      "redirect_uri cannot be decoded"
    case .clientIDMissing, .clientUnidentified:
      "client_id is missing"
    case .clientUnknown, .clientIDOfUpstream, .clientNotKnownAtToken, .clientIsUpstream:
      "the client is not known"
    case .redirectURIMissing:
      "redirect_uri is missing"
    case .redirectURISyntax:
      "redirect_uri is not an acceptable URI"
    case .redirectURIMismatch:
      "redirect_uri is not registered"
    case .redirectURILocalhost:
      "the name localhost is not accepted"
    case .userAgentEmbedded:
      "open this page in the browser"
    case .parameterRepeated:
      "a parameter occurs more than once"
    case .parameterMalformed:
      "a parameter cannot be decoded"
    case .stateForeign:
      "this state cannot be used here"
    case .requestObjectsBoth:
      "request and request_uri together"
    case .requestObject:
      "request objects are not supported"
    case .requestURI:
      "request_uri is not supported"
    case .registrationParameter:
      "registration is not supported"
    case .pushedNotAllowed:
      "this client may not push its requests"
    case .pushedReference:
      "a pushed request has no request_uri"
    case .pushedRequired:
      "this client has to push its requests"
    case .pushedUnknown:
      "the request_uri was used, has expired or is another client's"
    case .responseTypeMissing:
      "response_type is missing"
    case .responseTypeUnsupported:
      "only response_type=code is supported"
    case .responseTypeForNative:
      "native apps use response_type=code"
    case .grantNotAllowed:
      "this client may not use this grant"
    case .responseModeUnsupported:
      "this response_mode is not supported"
    case .responseModeUnreachable:
      "form_post does not reach an app"
    case .challengeMissing:
      "code challenge required"
    case .challengeMethodUnsupported:
      "transform algorithm not supported"
    case .challengeMalformed:
      "code challenge malformed"
    case .scopeMalformed:
      "scope has characters that no scope has"
    case .promptNoneCombined:
      "prompt=none stands alone"
    case .consentRequired:
      "the user must be asked"
    case .stateMissing:
      "state required"
    case .tokenParametersInQuery:
      "parameters belong into the body"
    case .clientAuthenticationSeveral:
      "more than one client authentication method"
    case .clientAuthenticationMalformed:
      "client authentication cannot be read"
    case .clientUnauthenticated:
      "client authentication required"
    case .clientAuthenticationFailed:
      "client authentication failed"
    case .passwordGrant:
      "the password grant is not supported"
    case .grantTypeMissing:
      "grant_type is missing"
    case .grantTypeUnsupported:
      "this grant_type is not supported"
    case .clientCredentialsPublic:
      "public clients have no client credentials"
    case .codeMissing:
      "code is missing"
    case .codeUnbound:
      "the code was not issued here"
    case .codeKeyUnknown:
      "try again in a moment"
    case .codeForeign:
      "the code was issued to another client"
    case .codeExpired:
      "the code has expired"
    case .codeUsed:
      "the code was already used"
    case .codeOutdated:
      "the code is no longer valid"
    case .codeRedirectURI:
      "redirect_uri differs from the authorization request"
    case .verifierMissing:
      "code verifier required"
    case .verifierMalformed:
      "code verifier malformed"
    case .verifierMismatch:
      "code verifier does not match"
    case .verifierSurplus:
      "code verifier without a code challenge"
    case .refreshTokenMissing:
      "refresh_token is missing"
    case .refreshTokenUnbound:
      "the refresh token was not issued here"
    case .refreshTokenForeign:
      "the refresh token was issued to another client"
    case .refreshTokenOutdated:
      "the refresh token is no longer valid"
    case .refreshTokenExpired:
      "the refresh token was not used for too long"
    case .refreshTokenBusy:
      "a refresh with this token is under way"
    case .refreshTokenReused:
      "the refresh token was already used"
    case .refreshScopeWider, .reentryScope:
      "scope may only become narrower"
    case .deviceCodeMissing:
      "device_code is missing"
    case .reentryChanged:
      "the request was changed on its way"
    case .reentryBody:
      "the form cannot be read"
    case .browserUnbound:
      "this browser did not begin this request"
    case .transactionExpired:
      "the request has expired"
    case .transactionOutdated:
      "the request is no longer valid"
    case .formWithoutTransaction:
      "there is no request to continue"
    case .answerElsewhere:
      "the server answered to another address"
    case .answerEchoed:
      "this code was already in the request"
    case .answerUnusable:
      "the server's answer cannot be used"
    case .callbackClosed:
      "answers are not accepted here"
    case .upstreamDenied, .consentDenied:
      "access was denied"
    case .upstreamError:
      "the server reported an error"
    case .upstreamFailed:
      "the server failed"
    case .upstreamUnavailable:
      "the server cannot be reached"
    case .upstreamTimedOut:
      "the server did not answer in time"
    case .pathAmbiguous:
      "the path is not written exactly"
    case .pathClosed, .pathNotPassed:
      "not found"
    case .tooManyRequests:
      "too many requests"
    }
  }

  /// Where the rule comes from.
  public var reference: String {
    switch self {
    case .methodNotAllowed:
      "RFC 6749, sections 3.1 and 3.2"
    case .bodyType, .parameterNameMalformed, .redirectURIMalformed, .parameterMalformed, .reentryBody:
      "RFC 6749, appendix B"
    case .parametersTooMany, .parametersSplit, .parameterSpelling, .clientIDRepeated, .redirectURIRepeated,
      .parameterRepeated, .reentryChanged:
      "RFC 6749, section 3.1"
    case .clientIDMalformed:
      "RFC 6749, appendix A.1"
    case .clientIDMissing:
      "RFC 6749, section 4.1.1"
    case .clientUnknown, .transactionOutdated, .upstreamDenied, .upstreamError, .upstreamFailed,
      .upstreamUnavailable, .upstreamTimedOut, .consentDenied:
      "RFC 6749, section 4.1.2.1"
    case .clientIDOfUpstream, .clientIsUpstream:
      "RFC 6749, section 2.2"
    case .redirectURIMissing:
      "RFC 6749, section 3.1.2.3"
    case .redirectURISyntax, .answerElsewhere, .callbackClosed:
      "RFC 6749, section 3.1.2"
    case .redirectURIMismatch:
      "RFC 8252, section 8.4"
    case .redirectURILocalhost:
      "RFC 8252, section 8.3"
    case .userAgentEmbedded:
      "RFC 8252, section 8.12"
    case .stateForeign, .browserUnbound, .formWithoutTransaction:
      "RFC 6749, section 10.12"
    case .requestObjectsBoth:
      "RFC 9101, section 5"
    case .requestObject, .requestURI:
      "RFC 9101, section 7"
    case .registrationParameter:
      "OpenID Connect Core, section 7.2.1"
    case .pushedNotAllowed:
      "RFC 9126, section 2.3"
    case .pushedReference:
      "RFC 9126, section 2.1"
    case .pushedRequired:
      "RFC 9126, section 6"
    case .pushedUnknown:
      "RFC 9126, section 4"
    case .responseTypeMissing:
      "RFC 6749, section 3.1.1"
    case .responseTypeUnsupported:
      "RFC 9700, section 2.1.2"
    case .responseTypeForNative:
      "RFC 8252, section 8.2"
    case .grantNotAllowed:
      "RFC 6749, sections 4.1.2.1 and 5.2"
    case .responseModeUnsupported:
      "OAuth 2.0 Multiple Response Types, section 2.1"
    case .responseModeUnreachable:
      "OAuth 2.0 Form Post Response Mode, section 2"
    case .challengeMissing, .challengeMethodUnsupported:
      "RFC 7636, section 4.4.1"
    case .challengeMalformed:
      "RFC 7636, section 4.2"
    case .scopeMalformed, .reentryScope:
      "RFC 6749, section 3.3"
    case .promptNoneCombined:
      "OpenID Connect Core, section 3.1.2.1"
    case .consentRequired:
      "RFC 8252, section 8.6"
    case .stateMissing:
      "RFC 8252, section 8.9"
    case .tokenParametersInQuery:
      "RFC 6749, sections 2.3.1 and 3.2"
    case .clientAuthenticationSeveral, .clientUnauthenticated:
      "RFC 6749, section 2.3"
    case .clientAuthenticationMalformed:
      "RFC 6749, section 2.3.1"
    case .clientUnidentified:
      "RFC 6749, section 3.2.1"
    case .clientNotKnownAtToken, .clientAuthenticationFailed, .grantTypeUnsupported, .codeKeyUnknown:
      "RFC 6749, section 5.2"
    case .passwordGrant:
      "RFC 9700, section 2.4"
    case .grantTypeMissing, .codeMissing, .codeForeign, .codeOutdated, .codeRedirectURI:
      "RFC 6749, section 4.1.3"
    case .clientCredentialsPublic:
      "RFC 6749, section 4.4"
    case .codeUnbound:
      "RFC 7636, section 4.4"
    case .codeExpired, .codeUsed, .transactionExpired, .answerUnusable:
      "RFC 6749, section 4.1.2"
    case .verifierMissing:
      "RFC 7636, sections 4.5 and 4.6"
    case .verifierMalformed:
      "RFC 7636, section 4.1"
    case .verifierMismatch:
      "RFC 7636, section 4.6"
    case .verifierSurplus:
      "RFC 9700, section 4.8.2"
    case .refreshTokenMissing, .refreshTokenOutdated, .refreshScopeWider:
      "RFC 6749, section 6"
    case .refreshTokenUnbound:
      "RFC 6749, section 10.4"
    case .refreshTokenForeign:
      "RFC 6749, sections 6 and 10.4"
    case .refreshTokenExpired, .refreshTokenBusy, .refreshTokenReused:
      "RFC 9700, section 4.14.2"
    case .deviceCodeMissing:
      "RFC 8628, section 3.4"
    case .answerEchoed:
      "RFC 9700, section 4.5"
    case .pathAmbiguous:
      "RFC 3986, section 6.2"
    case .pathClosed:
      "RFC 9126, section 2"
    case .pathNotPassed:
      "RFC 9110, section 15.5.5"
    case .tooManyRequests:
      "RFC 6585, section 4"
    }
  }

  /// The stable id of the rule.
  public var ruleID: String { rawValue }

  /// The value of the `rule` label of metrics.
  public var metricLabel: String { rawValue }

  /// Where the rule is explained, relative to the documentation.
  public var documentation: String { "docs/rules.md#\(rawValue)" }
}
