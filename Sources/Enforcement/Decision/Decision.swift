public import OAuth
import Policy

/// The decision on a request, with the permission that the caller gets if the request is forwarded.
public enum Decision<Permit: Sendable>: Sendable {
  /// The request is forwarded in the form that the permit describes.
  case forward(Permit)
  /// The request is forwarded with the client's own parameters. An observed request and its response pass unchanged
  /// (invariant `I-observe`).
  case pass(PassThroughPermit)
  /// The request is refused.
  case reject(RejectionResponse)
}

/// Permission to forward a request with the client's own parameters. Only `Enforcement` can create it.
public struct PassThroughPermit: Sendable {}

/// A decision, and the facts that were found while the rules ran.
public struct DecisionWithFindings<Permit: Sendable>: Sendable {
  /// The decision on the request.
  public let decision: Decision<Permit>
  /// The findings. They are logged and counted, but do not cause a refusal.
  public let findings: [Finding]

  /// The permit of a forwarded request; `nil` for other decisions.
  public var permit: Permit? {
    guard case .forward(let permit) = decision else { return nil }
    return permit
  }

  /// The refusal of a rejected request; `nil` for other decisions.
  public var refusal: RejectionResponse? {
    guard case .reject(let refusal) = decision else { return nil }
    return refusal
  }

  /// True if the decision is ``Decision/pass(_:)``.
  public var isPassed: Bool {
    guard case .pass = decision else { return false }
    return true
  }
}

/// A fact about a request that is logged and counted, but does not cause a refusal.
public enum Finding: Sendable, Hashable {
  /// A refusal that `mode: enforce` would have carried out for this observed request.
  case wouldReject(Rejection)
  /// An aspect of the request that a rule has noted.
  case note(Note)

  /// An aspect of a request that operators should know. The raw value appears in logs and metrics.
  public enum Note: String, Sendable, CaseIterable {
    case stateMissing = "state-missing"
    case embeddedUserAgent = "user-agent-embedded"
    case plainChallenge = "pkce-plain"
    case localhostRedirect = "redirect-uri-localhost"
    case publicClientSecret = "public-client-secret-ignored"
    /// The request is one of an old version of the app, without PKCE (`accept_old_version_until`).
    case oldVersion = "old-version-accepted"
    /// A trusted proxy reported that the client presented a certificate. The gateway's token request to the upstream is
    /// sent without it.
    case clientCertificateDropped = "client-certificate-dropped"
    /// A scope token of the request is in `scopes.drop`, so it is not sent upstream.
    case scopeDropped = "scope-dropped"
    /// The request has `resource` (RFC 8707), which is not forwarded, because `upstream.parameters` does not list it.
    case resourceDropped = "resource-dropped"
    /// The request has `authorization_details` (RFC 9396), which is not forwarded, because `upstream.parameters` does
    /// not list it.
    case authorizationDetailsDropped = "authorization-details-dropped"
    /// The client does not get a parameter of the upstream's response that `upstream.response_parameters` lists, because
    /// its value is repeated, cannot be decoded or is too long, or because a redirect URI has a parameter with its name.
    case responseParameterDropped = "response-parameter-dropped"
    /// The user has approved the same request before in this browser, so the consent page was not shown
    /// (`consent_remembered`).
    case consentRemembered = "consent-remembered"
  }
}

/// A rejection of a request, and the way in which the client gets the error.
public struct RejectionResponse: Sendable {
  /// The ways in which an error can reach the client.
  public enum Delivery: Sendable {
    /// The error is in the response to this request: an error page at the authorization endpoint, JSON at the endpoints
    /// that clients call.
    case withoutRedirect
    /// A redirect to the client.
    case redirect(VerifiedRedirect)
    /// A page that explains the error and has a link to the client, for a client that the operator does not vouch for
    /// (`trusted: false`; RFC 9700, section 4.11.2).
    case pageWithLink(VerifiedRedirect)
  }

  /// The reason. It determines the status, and also the error code and its description if ``upstreamError`` is `nil`.
  public let rejection: Rejection
  /// The way in which the error reaches the client; always `.withoutRedirect` for a rejection that may not redirect.
  public let delivery: Delivery
  /// Details for the developer or operator who has to solve the problem; `nil` if there are none.
  public let detail: Detail?
  /// The error that the upstream reported, mapped and sanitised; `nil` for an error of the gateway.
  let upstreamError: UpstreamError?

  init(
    _ rejection: Rejection, delivery: Delivery = .withoutRedirect, detail: Detail? = nil,
    upstreamError: UpstreamError? = nil
  ) {
    self.rejection = rejection
    self.delivery = rejection.mayRedirect ? delivery : .withoutRedirect
    self.detail = detail
    self.upstreamError = upstreamError
  }

  /// Returns a refusal without a redirect, for problems that only the caller can find, such as a used code or a
  /// timeout.
  public static func withoutRedirect(_ rejection: Rejection) -> RejectionResponse { RejectionResponse(rejection) }

  /// Creates the refusal of a code from a path that `upstream.completion_paths` does not permit.
  ///
  /// - Parameter path: The path as it is logged; `nil` if it cannot be logged.
  public static func codeFromPath(_ path: String?) -> RejectionResponse {
    RejectionResponse(.completionPath, detail: .completionPath(path))
  }

  /// Returns a refusal for a problem that only the caller can find. If the rejection permits a redirect,
  /// `redirect.errorDelivery` determines how the error reaches the client.
  public static func redirecting(to redirect: VerifiedRedirect, _ rejection: Rejection) -> RejectionResponse {
    RejectionResponse(rejection, delivery: redirect.errorDelivery)
  }

  /// The value of `error` (RFC 6749, sections 4.1.2.1 and 5.2).
  public var errorCode: OAuthErrorCode { upstreamError?.code ?? rejection.errorCode }
  /// The value of `error_description` (RFC 6749, sections 4.1.2.1 and 5.2).
  public var errorDescription: String { upstreamError?.description ?? rejection.errorDescription }

  /// Returns the value of `error_uri`: the page on the rule (RFC 6749, sections 4.1.2.1 and 5.2). `nil` for an error that
  /// the upstream reported.
  ///
  /// - Parameters:
  ///   - rulesURL: The URL of the list of rules.
  ///   - request: The id of the request, which the fragment of the URL names, so that an app developer who has only the
  ///     error can ask the operator about it; `nil` for a URL without fragment.
  public func errorURI(below rulesURL: String, request: String? = nil) -> String? {
    guard upstreamError == nil else { return nil }
    return "\(rulesURL)/\(rejection.ruleID)" + (request.map { "#request=\($0)" } ?? "")
  }

  /// The error response for the redirect URI, which a redirect or the link on a page sends there; `nil` if the error is
  /// delivered without a redirect and without a link.
  public var response: AuthorizationResponse? { response(request: nil) }

  /// Returns ``response`` with the id of the request in `error_uri`; `nil` for a request without id.
  public func response(request: String?) -> AuthorizationResponse? {
    switch delivery {
    case .withoutRedirect: nil
    case .redirect(let redirect), .pageWithLink(let redirect):
      redirect.response(
        error: errorCode, description: errorDescription, uri: errorURI(below: redirect.rulesURL, request: request),
        extraParameters: upstreamError?.extraParameters ?? [])
    }
  }

  /// True if the status is 401, so that the response needs `WWW-Authenticate: Basic` (RFC 6749, section 5.2).
  public var requiresBasicAuthentication: Bool { rejection.status == 401 }
}

/// Details of a refusal. They contain no value from the request.
public enum Detail: Sendable, Equatable {
  /// The name of a parameter that a specification defines.
  case parameter(String)
  /// The reason why the redirect URI could not be parsed.
  case redirectURI(RedirectURIError)
  /// The requested URI is not registered. `registeredIndex` is the index, from 0, of the registered URI that is most
  /// similar to it, and `offset` is the position in bytes at which the two first differ.
  case differingByte(registeredIndex: Int, offset: Int)
  /// The requested URI uses the name `localhost`, and no registered one does (RFC 8252, section 8.3).
  case localhost
  /// The path of the request, as it is logged, is not in `upstream.completion_paths`; `nil` if it cannot be logged.
  case completionPath(String?)
}

/// An error that the upstream reported. Its code is mapped to one that a client can receive, and its description has
/// only characters that `error_description` may contain.
struct UpstreamError: Sendable {
  let code: OAuthErrorCode
  let description: String?
  /// The parameters of the upstream's response that the policy lists for the client.
  var extraParameters: [FormParameters.Entry] = []
}

/// The destination of an authorization response: a redirect URI that matches a registered one of the client.
///
/// Only `Enforcement` can create it, so no other code can redirect a browser to a client.
public struct VerifiedRedirect: Sendable {
  /// The redirect URI that receives the response.
  public let redirectURI: RedirectURI
  /// The response mode.
  public let mode: ResponseMode
  /// The `state` of the client; `nil` if the client sent none.
  public let state: String?
  let issuer: String
  /// The URL of the list of rules, for `error_uri`.
  let rulesURL: String
  /// True if the operator does not vouch for the client (`trusted: false`), so that no error redirects to it
  /// automatically (RFC 9700, section 4.11.2).
  let isUntrusted: Bool
  /// True if a redirect to an https URI ends in a fragment that the gateway adds (`fragment_guard`).
  let appendsFragment: Bool
  /// True if the user restarted the request by a link of the gateway. Errors are then shown on a page of the gateway
  /// and never sent to the client.
  let isRestarted: Bool

  init(
    redirectURI: RedirectURI, mode: ResponseMode, state: String?, issuer: String, rulesURL: String, isUntrusted: Bool,
    appendsFragment: Bool = false, isRestarted: Bool = false
  ) {
    self.redirectURI = redirectURI
    self.mode = mode
    self.state = state
    self.issuer = issuer
    self.rulesURL = rulesURL
    self.isUntrusted = isUntrusted
    self.appendsFragment = appendsFragment
    self.isRestarted = isRestarted
  }

  /// The way in which errors reach the client.
  var errorDelivery: RejectionResponse.Delivery {
    if isRestarted { return .withoutRedirect }
    return isUntrusted ? .pageWithLink(self) : .redirect(self)
  }

  /// Returns an error response with `state` and `iss` (RFC 6749, section 4.1.2.1; RFC 9207).
  public func response(
    error: OAuthErrorCode, description: String, uri: String? = nil, extraParameters: [FormParameters.Entry] = []
  ) -> AuthorizationResponse {
    makeResponse(
      [
        FormParameters.Entry(.error, error.rawValue),
        FormParameters.Entry(.errorDescription, ErrorDescription.sanitised(description)),
      ] + (uri.map { [FormParameters.Entry(.errorURI, $0)] } ?? []) + extraParameters)
  }

  /// Returns a response with the parameters, `state` and `iss`.
  func makeResponse(_ parameters: [FormParameters.Entry]) -> AuthorizationResponse {
    AuthorizationResponse(
      redirectURI: redirectURI, mode: mode, issuer: issuer, state: state, parameters: parameters,
      appendsFragment: appendsFragment)
  }
}
