/// What becomes of a refusal in report mode (`I-report`).
extension Rejection {
  /// What report mode makes of it (`I-report`).
  public var reportModeEffect: ReportModeEffect {
    switch self {
    case .methodNotAllowed, .bodyType, .parametersTooMany, .parametersSplit, .parameterNameMalformed,
      .parameterSpelling, .clientIDRepeated, .clientIDMalformed, .redirectURIRepeated, .redirectURIMalformed,
      .clientIDOfUpstream, .parameterRepeated, .parameterMalformed, .stateForeign, .tokenParametersInQuery,
      .clientIsUpstream, .codeForeign, .codeExpired, .codeUsed, .codeOutdated, .codeRedirectURI,
      .verifierMissing, .verifierMismatch, .refreshTokenForeign, .refreshTokenOutdated, .refreshTokenExpired,
      .refreshTokenBusy, .refreshTokenReused,
      .refreshScopeWider, .reentryChanged, .reentryScope, .reentryBody, .browserUnbound, .transactionExpired,
      .transactionOutdated, .formWithoutTransaction, .answerElsewhere, .answerEchoed, .answerUnusable,
      .callbackClosed, .upstreamDenied, .upstreamError, .upstreamFailed, .upstreamUnavailable, .upstreamTimedOut,
      .consentDenied, .pushedNotAllowed, .pushedReference, .pushedUnknown, .pathAmbiguous,
      .pathResemblesEndpoint, .pathClosed, .pathNotPassed, .tooManyRequests:
      .refuse
    case .clientIDMissing, .clientUnknown, .redirectURIMissing, .redirectURISyntax, .redirectURIMismatch,
      .redirectURILocalhost, .requestObjectsBoth, .requestObject, .requestURI, .registrationParameter,
      .responseTypeMissing, .responseTypeUnsupported, .responseTypeForNative, .grantNotAllowed,
      .responseModeUnsupported, .responseModeUnreachable, .scopeMalformed, .clientAuthenticationSeveral,
      .clientAuthenticationMalformed, .clientUnidentified, .clientNotKnownAtToken, .clientUnauthenticated,
      .clientAuthenticationFailed, .passwordGrant, .grantTypeMissing, .grantTypeUnsupported,
      .clientCredentialsPublic, .codeMissing, .codeUnbound, .codeKeyUnknown, .refreshTokenMissing, .refreshTokenUnbound,
      .deviceCodeMissing:
      .pass
    case .userAgentEmbedded, .challengeMissing, .challengeMethodUnsupported, .challengeMalformed,
      .promptNoneCombined, .consentRequired, .stateMissing, .pushedRequired, .verifierMalformed, .verifierSurplus:
      .proceed
    }
  }

  /// Whether the refusal is carried out even in report mode, because anything else would weaken the upstream.
  public var appliesInReportMode: Bool { reportModeEffect == .refuse }
}

/// What becomes of a refusal in report mode.
public enum ReportModeEffect: Sendable {
  /// It is carried out all the same.
  case refuse
  /// It is reported, and the request goes on through the gateway.
  case proceed
  /// It is reported, and the request goes upstream as the client sent it: the gateway neither completes it nor lends it
  /// credentials.
  case pass
}
