/// What a refusal means to a client: exhaustive switches without a default, so that a new case cannot be forgotten here.
public import OAuth

extension Rejection {
  /// The code that a client receives.
  public var errorCode: OAuthErrorCode {
    switch self {
    case .methodNotAllowed, .bodyType, .parametersTooMany, .parametersSplit, .parameterNameMalformed,
      .parameterSpelling, .clientIDRepeated, .clientIDMalformed, .redirectURIRepeated, .redirectURIMalformed,
      .clientIDMissing, .clientUnknown, .clientIDOfUpstream, .redirectURIMissing, .redirectURISyntax,
      .redirectURIMismatch, .redirectURILocalhost, .userAgentEmbedded, .parameterRepeated, .parameterMalformed,
      .stateForeign, .requestObjectsBoth, .responseTypeMissing, .responseModeUnsupported, .responseModeUnreachable,
      .challengeMissing, .challengeMethodUnsupported, .challengeMalformed, .promptNoneCombined, .stateMissing,
      .tokenParametersInQuery, .clientAuthenticationSeveral, .grantTypeMissing, .codeMissing, .verifierMissing,
      .verifierMalformed, .verifierSurplus, .refreshTokenMissing, .deviceCodeMissing, .reentryChanged,
      .reentryBody, .browserUnbound, .transactionExpired, .transactionOutdated, .formWithoutTransaction,
      .answerEchoed, .pushedReference, .pushedRequired, .pushedUnknown, .pathAmbiguous, .pathClosed,
      .pathNotPassed:
      .invalidRequest
    case .requestObject:
      .requestNotSupported
    case .requestURI:
      .requestURINotSupported
    case .registrationParameter:
      .registrationNotSupported
    case .responseTypeUnsupported:
      .unsupportedResponseType
    case .responseTypeForNative, .grantNotAllowed, .clientCredentialsPublic, .pushedNotAllowed:
      .unauthorizedClient
    case .scopeMalformed, .refreshScopeWider, .reentryScope:
      .invalidScope
    case .consentRequired:
      .consentRequired
    case .clientAuthenticationMalformed, .clientUnidentified, .clientNotKnownAtToken, .clientIsUpstream,
      .clientUnauthenticated, .clientAuthenticationFailed:
      .invalidClient
    case .passwordGrant, .grantTypeUnsupported:
      .unsupportedGrantType
    case .codeUnbound, .codeForeign, .codeExpired, .codeUsed, .codeOutdated, .codeRedirectURI, .verifierMismatch,
      .refreshTokenUnbound, .refreshTokenForeign, .refreshTokenOutdated, .refreshTokenExpired, .refreshTokenReused:
      .invalidGrant
    case .codeKeyUnknown, .refreshTokenBusy, .upstreamUnavailable, .upstreamTimedOut, .tooManyRequests:
      .temporarilyUnavailable
    case .answerElsewhere, .answerUnusable, .callbackClosed, .upstreamError, .upstreamFailed:
      .serverError
    case .upstreamDenied, .consentDenied:
      .accessDenied
    }
  }

  /// The status of a page or of a JSON answer; a redirect has its own.
  public var status: Int {
    switch self {
    case .methodNotAllowed:
      405
    case .bodyType, .parametersTooMany, .parametersSplit, .parameterNameMalformed, .parameterSpelling,
      .clientIDRepeated, .clientIDMalformed, .redirectURIRepeated, .redirectURIMalformed, .clientIDMissing,
      .clientUnknown, .clientIDOfUpstream, .redirectURIMissing, .redirectURISyntax, .redirectURIMismatch,
      .redirectURILocalhost, .parameterRepeated, .parameterMalformed, .stateForeign, .requestObjectsBoth,
      .requestObject, .requestURI, .registrationParameter, .responseTypeMissing, .responseTypeUnsupported,
      .responseTypeForNative, .grantNotAllowed, .responseModeUnsupported, .responseModeUnreachable,
      .challengeMissing, .challengeMethodUnsupported, .challengeMalformed, .scopeMalformed, .promptNoneCombined,
      .consentRequired, .stateMissing, .tokenParametersInQuery, .clientAuthenticationSeveral, .clientUnidentified,
      .clientNotKnownAtToken, .passwordGrant, .grantTypeMissing, .grantTypeUnsupported, .clientCredentialsPublic,
      .codeMissing, .codeUnbound, .codeForeign, .codeExpired, .codeUsed, .codeOutdated, .codeRedirectURI,
      .verifierMissing, .verifierMalformed, .verifierMismatch, .verifierSurplus, .refreshTokenMissing,
      .refreshTokenUnbound, .refreshTokenForeign, .refreshTokenOutdated, .refreshTokenExpired, .refreshTokenReused,
      .refreshScopeWider,
      .deviceCodeMissing, .reentryChanged, .reentryScope, .reentryBody, .browserUnbound, .transactionExpired,
      .transactionOutdated, .formWithoutTransaction, .answerEchoed, .callbackClosed, .upstreamDenied,
      .upstreamError, .pushedNotAllowed, .pushedReference, .pushedRequired, .pushedUnknown, .pathAmbiguous:
      400
    case .userAgentEmbedded, .consentDenied:
      403
    case .clientAuthenticationMalformed, .clientIsUpstream, .clientUnauthenticated, .clientAuthenticationFailed:
      401
    case .codeKeyUnknown, .refreshTokenBusy, .upstreamUnavailable:
      503
    case .answerElsewhere, .answerUnusable, .upstreamFailed:
      502
    case .upstreamTimedOut:
      504
    case .pathClosed, .pathNotPassed:
      404
    case .tooManyRequests:
      429
    }
  }

  /// Whether the client is told by a redirect, once its redirect URI has been verified (RFC 6749, section 4.1.2.1).
  public var mayRedirect: Bool {
    switch self {
    case .methodNotAllowed, .bodyType, .parametersTooMany, .parametersSplit, .parameterNameMalformed,
      .parameterSpelling, .clientIDRepeated, .clientIDMalformed, .redirectURIRepeated, .redirectURIMalformed,
      .clientIDMissing, .clientUnknown, .clientIDOfUpstream, .redirectURIMissing, .redirectURISyntax,
      .redirectURIMismatch, .redirectURILocalhost, .userAgentEmbedded, .stateForeign, .tokenParametersInQuery,
      .clientAuthenticationSeveral, .clientAuthenticationMalformed, .clientUnidentified, .clientNotKnownAtToken,
      .clientIsUpstream, .clientUnauthenticated, .clientAuthenticationFailed, .passwordGrant, .grantTypeMissing,
      .grantTypeUnsupported, .clientCredentialsPublic, .codeMissing, .codeUnbound, .codeKeyUnknown, .codeForeign,
      .codeExpired, .codeUsed, .codeOutdated, .codeRedirectURI, .verifierMissing, .verifierMalformed,
      .verifierMismatch, .verifierSurplus, .refreshTokenMissing, .refreshTokenUnbound, .refreshTokenForeign,
      .refreshTokenOutdated, .refreshTokenExpired, .refreshTokenBusy, .refreshTokenReused, .refreshScopeWider,
      .deviceCodeMissing, .reentryChanged,
      .reentryScope, .reentryBody, .browserUnbound, .transactionExpired, .transactionOutdated,
      .formWithoutTransaction, .answerElsewhere, .answerEchoed, .pushedNotAllowed, .pushedReference,
      .pushedUnknown, .pathAmbiguous, .pathClosed, .pathNotPassed, .tooManyRequests:
      false
    case .parameterRepeated, .parameterMalformed, .requestObjectsBoth, .requestObject, .requestURI,
      .registrationParameter, .responseTypeMissing, .responseTypeUnsupported, .responseTypeForNative,
      .grantNotAllowed, .responseModeUnsupported, .responseModeUnreachable, .challengeMissing,
      .challengeMethodUnsupported, .challengeMalformed, .scopeMalformed, .promptNoneCombined, .consentRequired,
      .stateMissing, .pushedRequired, .callbackClosed, .answerUnusable, .upstreamDenied, .upstreamError,
      .upstreamFailed, .upstreamUnavailable, .upstreamTimedOut, .consentDenied:
      true
    }
  }
}
