public import OAuth

/// The response to each rejection. The table has one row per case and no `default`, so the compiler reports a case
/// without a row.
///
/// The columns are: the error code that a client receives (RFC 6749, sections 4.1.2.1 and 5.2), the HTTP status of a
/// page or JSON response, whether a redirect may carry the error, the text of `error_description`, and the source of
/// the rule.
extension Rejection {
  private var row: Row {
    switch self {
    case .methodNotAllowed:
      Row(.invalidRequest, 405, .page, "method not allowed here", "RFC 6749, sections 3.1 and 3.2")
    case .bodyType:
      Row(.invalidRequest, 400, .page, "the body must be application/x-www-form-urlencoded", "RFC 6749, appendix B")
    case .parametersTooMany:
      Row(.invalidRequest, 400, .page, "too many parameters", "RFC 6749, section 3.1")
    case .parametersSplit:
      Row(.invalidRequest, 400, .page, "parameters in both the query and the body", "RFC 6749, section 3.1")
    case .parameterNameMalformed:
      Row(.invalidRequest, 400, .page, "a parameter name cannot be decoded", "RFC 6749, appendix B")
    case .parameterSpelling:
      Row(.invalidRequest, 400, .page, "a parameter in another spelling", "RFC 6749, section 3.1")
    case .clientIDRepeated:
      Row(.invalidRequest, 400, .page, "client_id must occur once", "RFC 6749, section 3.1")
    case .clientIDMalformed:
      Row(.invalidRequest, 400, .page, "client_id cannot be decoded", "RFC 6749, appendix A.1")
    case .redirectURIRepeated:
      Row(.invalidRequest, 400, .page, "redirect_uri must occur once", "RFC 6749, section 3.1")
    case .redirectURIMalformed:
      Row(.invalidRequest, 400, .page, "redirect_uri cannot be decoded", "RFC 6749, appendix B")
    case .clientIDMissing:
      Row(.invalidRequest, 400, .page, "client_id is missing", "RFC 6749, section 4.1.1")
    case .clientUnknown:
      Row(.invalidRequest, 400, .page, "the client is not known", "RFC 6749, section 4.1.2.1")
    case .clientIDOfUpstream:
      Row(.invalidRequest, 400, .page, "the client is not known", "RFC 6749, section 2.2")
    case .redirectURIMissing:
      Row(.invalidRequest, 400, .page, "redirect_uri is missing", "RFC 6749, section 3.1.2.3")
    case .redirectURISyntax:
      Row(.invalidRequest, 400, .page, "redirect_uri is not an acceptable URI", "RFC 6749, section 3.1.2")
    case .redirectURIMismatch:
      Row(.invalidRequest, 400, .page, "redirect_uri is not registered", "RFC 8252, section 8.4")
    case .redirectURILocalhost:
      Row(.invalidRequest, 400, .page, "the name localhost is not accepted", "RFC 8252, section 8.3")
    case .redirectURIEnforced:
      Row(.invalidRequest, 400, .page, "redirect_uri belongs to another client", "RFC 7636, section 1")
    case .userAgentEmbedded:
      Row(.invalidRequest, 403, .page, "open this page in the browser", "RFC 8252, section 8.12")
    case .parameterRepeated:
      Row(.invalidRequest, 400, .redirect, "a parameter occurs more than once", "RFC 6749, section 3.1")
    case .parameterMalformed:
      Row(.invalidRequest, 400, .redirect, "a parameter cannot be decoded", "RFC 6749, appendix B")
    case .stateForeign:
      Row(.invalidRequest, 400, .page, "this state cannot be used here", "RFC 6749, section 10.12")
    case .requestAndRequestURI:
      Row(.invalidRequest, 400, .redirect, "both request and request_uri", "RFC 9101, section 5")
    case .requestObject:
      Row(.requestNotSupported, 400, .redirect, "request objects are not supported", "RFC 9101, section 7")
    case .requestURI:
      Row(.requestURINotSupported, 400, .redirect, "request_uri is not supported", "RFC 9101, section 7")
    case .registrationParameter:
      Row(
        .registrationNotSupported, 400, .redirect, "registration is not supported",
        "OpenID Connect Core, section 7.2.1")
    case .pushedNotAllowed:
      Row(.unauthorizedClient, 400, .page, "this client may not push its requests", "RFC 9126, section 2.3")
    case .pushedReference:
      Row(.invalidRequest, 400, .page, "a pushed request must not contain request_uri", "RFC 9126, section 2.1")
    case .pushedRequired:
      Row(.invalidRequest, 400, .redirect, "this client must push its requests", "RFC 9126, section 6")
    case .pushedUnknown:
      Row(
        .invalidRequest, 400, .page, "the request_uri was used, has expired or is another client's",
        "RFC 9126, section 4")
    case .responseTypeMissing:
      Row(.invalidRequest, 400, .redirect, "response_type is missing", "RFC 6749, section 3.1.1")
    case .responseTypeMalformed:
      Row(.invalidRequest, 400, .redirect, "response_type is not a list of names", "RFC 6749, appendix A.3")
    case .responseTypeUnsupported:
      Row(.unsupportedResponseType, 400, .redirect, "only response_type=code is supported", "RFC 9700, section 2.1.2")
    case .responseTypeForNative:
      Row(.unauthorizedClient, 400, .redirect, "native apps must use response_type=code", "RFC 8252, section 8.2")
    case .grantNotAllowed:
      Row(
        .unauthorizedClient, 400, .redirect, "this client may not use this grant",
        "RFC 6749, sections 4.1.2.1 and 5.2")
    case .responseModeUnsupported:
      Row(
        .invalidRequest, 400, .redirect, "this response_mode is not supported",
        "OAuth 2.0 Multiple Response Types, section 2.1")
    case .responseModeUnreachable:
      Row(
        .invalidRequest, 400, .redirect, "form_post does not reach an app",
        "OAuth 2.0 Form Post Response Mode, section 2")
    case .challengeMissing:
      Row(.invalidRequest, 400, .redirect, "code challenge required", "RFC 7636, section 4.4.1")
    case .challengeMethodUnsupported:
      Row(.invalidRequest, 400, .redirect, "transform algorithm not supported", "RFC 7636, section 4.4.1")
    case .challengeMalformed:
      Row(.invalidRequest, 400, .redirect, "code challenge malformed", "RFC 7636, section 4.2")
    case .scopeMalformed:
      Row(.invalidScope, 400, .redirect, "scope contains characters that are not allowed", "RFC 6749, section 3.3")
    case .promptNoneCombined:
      Row(
        .invalidRequest, 400, .redirect, "prompt=none cannot be combined with other values",
        "OpenID Connect Core, section 3.1.2.1")
    case .consentRequired:
      Row(.consentRequired, 400, .redirect, "the user must give consent", "RFC 8252, section 8.6")
    case .stateMissing:
      Row(.invalidRequest, 400, .redirect, "state required", "RFC 8252, section 8.9")
    case .tokenParametersInQuery:
      Row(.invalidRequest, 400, .page, "parameters must be in the body", "RFC 6749, sections 2.3.1 and 3.2")
    case .multipleAuthenticationMethods:
      Row(.invalidRequest, 400, .page, "more than one client authentication method", "RFC 6749, section 2.3")
    case .clientAuthenticationMalformed:
      Row(.invalidClient, 401, .page, "client authentication cannot be read", "RFC 6749, section 2.3.1")
    case .clientUnidentified:
      Row(.invalidClient, 400, .page, "client_id is missing", "RFC 6749, section 3.2.1")
    case .clientNotKnownAtToken:
      Row(.invalidClient, 400, .page, "the client is not known", "RFC 6749, section 5.2")
    case .clientIsUpstream:
      Row(.invalidClient, 401, .page, "the client is not known", "RFC 6749, section 2.2")
    case .clientUnauthenticated:
      Row(.invalidClient, 401, .page, "client authentication required", "RFC 6749, section 2.3")
    case .clientAuthenticationFailed:
      Row(.invalidClient, 401, .page, "client authentication failed", "RFC 6749, section 5.2")
    case .senderConstraint:
      Row(.invalidRequest, 400, .page, "DPoP is not supported: a token here is a bearer token", "RFC 9449, section 5")
    case .passwordGrant:
      Row(.unsupportedGrantType, 400, .page, "the password grant is not supported", "RFC 9700, section 2.4")
    case .grantTypeMissing:
      Row(.invalidRequest, 400, .page, "grant_type is missing", "RFC 6749, section 4.1.3")
    case .grantTypeUnsupported:
      Row(.unsupportedGrantType, 400, .page, "this grant_type is not supported", "RFC 6749, section 5.2")
    case .clientCredentialsPublic:
      Row(.unauthorizedClient, 400, .page, "public clients may not use client credentials", "RFC 6749, section 4.4")
    case .codeMissing:
      Row(.invalidRequest, 400, .page, "code is missing", "RFC 6749, section 4.1.3")
    case .codeNotSealed:
      Row(.invalidGrant, 400, .page, "the code was not issued here", "RFC 7636, section 4.4")
    case .codeKeyUnknown:
      Row(.temporarilyUnavailable, 503, .page, "try again in a moment", "RFC 6749, section 5.2")
    case .codeIssuedToOtherClient:
      Row(.invalidGrant, 400, .page, "the code was issued to another client", "RFC 6749, section 4.1.3")
    case .codeExpired:
      Row(.invalidGrant, 400, .page, "the code has expired", "RFC 6749, section 4.1.2")
    case .codeUsed:
      Row(.invalidGrant, 400, .page, "the code was already used", "RFC 6749, section 4.1.2")
    case .codeOutdated:
      Row(.invalidGrant, 400, .page, "the code is no longer valid", "RFC 6749, section 4.1.3")
    case .codeRedirectURIMismatch:
      Row(.invalidGrant, 400, .page, "redirect_uri differs from the authorization request", "RFC 6749, section 4.1.3")
    case .verifierMissing:
      Row(.invalidRequest, 400, .page, "code verifier required", "RFC 7636, sections 4.5 and 4.6")
    case .verifierMalformed:
      Row(.invalidRequest, 400, .page, "code verifier malformed", "RFC 7636, section 4.1")
    case .verifierMismatch:
      Row(.invalidGrant, 400, .page, "code verifier does not match", "RFC 7636, section 4.6")
    case .unexpectedVerifier:
      Row(.invalidRequest, 400, .page, "code verifier without a code challenge", "RFC 9700, section 4.8.2")
    case .refreshTokenMissing:
      Row(.invalidRequest, 400, .page, "refresh_token is missing", "RFC 6749, section 6")
    case .refreshTokenUnbound:
      Row(.invalidGrant, 400, .page, "the refresh token was not issued here", "RFC 6749, section 10.4")
    case .refreshTokenForeign:
      Row(.invalidGrant, 400, .page, "the refresh token was issued to another client", "RFC 6749, sections 6 and 10.4")
    case .refreshTokenOutdated:
      Row(.invalidGrant, 400, .page, "the refresh token is no longer valid", "RFC 6749, section 6")
    case .refreshTokenExpired:
      Row(.invalidGrant, 400, .page, "the refresh token was unused for too long", "RFC 9700, section 4.14.2")
    case .refreshTokenBusy:
      Row(.temporarilyUnavailable, 503, .page, "a refresh with this token is under way", "RFC 9700, section 4.14.2")
    case .refreshTokenReused:
      Row(.invalidGrant, 400, .page, "the refresh token was already used", "RFC 9700, section 4.14.2")
    case .refreshAnswerMissing:
      Row(
        .temporarilyUnavailable, 503, .page, "the response to this refresh is no longer stored",
        "RFC 9700, section 4.14.2")
    case .familyMissing:
      Row(
        .invalidGrant, 400, .page, "the refresh token belongs to an unknown sign-in", "RFC 9700, section 4.14.2")
    case .refreshScopeWider:
      Row(.invalidScope, 400, .page, "scope may only become narrower", "RFC 6749, section 6")
    case .deviceCodeMissing:
      Row(.invalidRequest, 400, .page, "device_code is missing", "RFC 8628, section 3.4")
    case .reentryChanged:
      Row(.invalidRequest, 400, .page, "the request was changed on its way", "RFC 6749, section 3.1")
    case .reentryScope:
      Row(.invalidScope, 400, .page, "scope may only become narrower", "RFC 6749, section 3.3")
    case .reentryBody:
      Row(.invalidRequest, 400, .page, "the form cannot be read", "RFC 6749, appendix B")
    case .browserUnbound:
      Row(.invalidRequest, 400, .page, "this browser did not begin this request", "RFC 6749, section 10.12")
    case .transactionExpired:
      Row(.invalidRequest, 400, .page, "the request has expired", "RFC 6749, section 4.1.2")
    case .transactionOutdated:
      Row(.invalidRequest, 400, .page, "the request is no longer valid", "RFC 6749, section 4.1.2.1")
    case .formWithoutTransaction:
      Row(.invalidRequest, 400, .page, "there is no request to continue", "RFC 6749, section 10.12")
    case .responseToOtherURI:
      Row(.serverError, 502, .page, "the server sent its response to another address", "RFC 6749, section 3.1.2")
    case .codeReflectedFromRequest:
      Row(.invalidRequest, 400, .page, "this code was already in the request", "RFC 9700, section 4.5")
    case .answerReplayed:
      Row(.invalidRequest, 400, .page, "this code came from another sign-in", "RFC 9700, section 4.5")
    case .answerUnusable:
      Row(.serverError, 502, .redirect, "the server's response cannot be used", "RFC 6749, section 4.1.2")
    case .answerToEnforced:
      Row(.serverError, 502, .page, "the server's response belongs to another client", "RFC 7636, section 1")
    case .responseUnlisted:
      Row(.serverError, 502, .page, "the server's response belongs to no sign-in", "RFC 6749, section 3.1.2")
    case .callbackClosed:
      Row(.serverError, 400, .redirect, "responses are not accepted here", "RFC 6749, section 3.1.2")
    case .upstreamDenied:
      Row(.accessDenied, 400, .redirect, "access was denied", "RFC 6749, section 4.1.2.1")
    case .upstreamError:
      Row(.serverError, 400, .redirect, "the server reported an error", "RFC 6749, section 4.1.2.1")
    case .upstreamFailed:
      Row(.serverError, 502, .redirect, "the server failed", "RFC 6749, section 4.1.2.1")
    case .upstreamUnavailable:
      Row(.temporarilyUnavailable, 503, .redirect, "the server cannot be reached", "RFC 6749, section 4.1.2.1")
    case .upstreamTimedOut:
      Row(.temporarilyUnavailable, 504, .redirect, "the server did not answer in time", "RFC 6749, section 4.1.2.1")
    case .storeUnavailable:
      Row(
        .temporarilyUnavailable, 503, .redirect, "the request cannot be stored at the moment",
        "RFC 6819, section 4.4.1.11")
    case .consentDenied:
      Row(.accessDenied, 403, .redirect, "access was denied", "RFC 6749, section 4.1.2.1")
    case .pathAmbiguous:
      Row(.invalidRequest, 400, .page, "the path is an inexact spelling of an endpoint path", "RFC 3986, section 6.2")
    case .pathResemblesEndpoint:
      Row(.invalidRequest, 400, .page, "the path begins like an endpoint", "RFC 9110, section 4.2.3")
    case .endpointDisabled:
      Row(.invalidRequest, 404, .page, "not found", "RFC 9126, section 2")
    case .metadataBypassesGateway:
      Row(.invalidRequest, 404, .page, "not found", "RFC 8414, section 3")
    case .pathNotPassed:
      Row(.invalidRequest, 404, .page, "not found", "RFC 9110, section 15.5.5")
    case .hostUnknown:
      Row(.invalidRequest, 421, .page, "this gateway does not serve this host name", "RFC 9110, section 7.4")
    case .transportInsecure:
      Row(.invalidRequest, 403, .page, "OAuth endpoints answer only over TLS", "RFC 6749, sections 3.1 and 3.2")
    case .unlistedOAuth:
      Row(.invalidRequest, 400, .page, "this path is not an OAuth endpoint", "RFC 6749, sections 3.1 and 3.2")
    case .tooManyRequests:
      Row(.temporarilyUnavailable, 429, .page, "too many requests", "RFC 6585, section 4")
    }
  }

  /// The error code that a client receives.
  public var errorCode: OAuthErrorCode { row.errorCode }

  /// The HTTP status of a page or a JSON response. The error redirect to a client has another status.
  public var status: Int { row.status }

  /// True if the error may be sent to the client's redirect URI, after that URI has been verified (RFC 6749, section
  /// 4.1.2.1). `RejectionResponse.delivery` says whether it is.
  public var mayRedirect: Bool { row.delivery == .redirect }

  /// The text of `error_description`, in the character set of RFC 6749, section 5.2.
  public var errorDescription: String { row.errorDescription }

  /// The section of the specification that the rule comes from.
  public var reference: String { row.reference }

  /// The id of the rule. It never changes.
  public var ruleID: String { rawValue }

  /// The value of the `rule` label in metrics.
  public var metricLabel: String { rawValue }

  /// The section of the documentation that explains the rule. The path is relative to the root of the repository.
  public var documentation: String { "docs/rules.md#\(rawValue)" }

  /// One row of the table.
  private struct Row {
    enum Delivery {
      /// An error page or a JSON response, never a redirect.
      case page
      /// A redirect to the client if its redirect URI has been verified and errors may be redirected there; otherwise a
      /// page.
      case redirect
    }

    let errorCode: OAuthErrorCode
    let status: Int
    let delivery: Delivery
    let errorDescription: String
    let reference: String

    init(
      _ errorCode: OAuthErrorCode, _ status: Int, _ delivery: Delivery, _ errorDescription: String,
      _ reference: String
    ) {
      self.errorCode = errorCode
      self.status = status
      self.delivery = delivery
      self.errorDescription = errorDescription
      self.reference = reference
    }
  }
}
