import Cryptography
public import OAuth
public import Policy

/// The facts for the rules on a request at the gateway's own introspection endpoint.
struct IntrospectionContext: FormContext {
  let request: TokenRequest
  let policy: Policy
  let authentication: ClientAuthentication?
  let authenticationError: ClientAuthenticationError?
  /// The resource of the resource server that the request names; `nil` if the policy has no such resource server.
  let resource: Resource?
  /// True if the request contains the right secret of this resource server.
  let secretIsRight: Bool

  init(request: TokenRequest, policy: Policy) {
    self.request = request
    self.policy = policy
    switch Result(catching: { () throws(ClientAuthenticationError) in try request.clientAuthentication() }) {
    case .success(let authentication):
      self.authentication = authentication
      authenticationError = nil
    case .failure(let error):
      authentication = nil
      authenticationError = error
    }
    let id = authentication?.clientID.rawValue
    resource = policy.resources.all.first { $0.introspection?.id == id && id != nil }
    guard let authentication, let expected = resource?.introspection?.secret else {
      secretIsRight = false
      return
    }
    secretIsRight = authentication.matches(expected)
  }

  /// `nil`: a resource server is not a client.
  var client: Client? { nil }
  var parameters: FormParameters { request.parameters }
  var definedParameters: ParameterNames { request.definedParameters }
  var defect: RequestDefect? { request.defect }
  var requestedScope: Scope? { nil }
}

extension Rule where Context == IntrospectionContext {
  /// RFC 6749, section 2.3.
  static var oneResourceServerAuthentication: Rule {
    Rule(name: "the resource server uses one authentication method", source: "RFC 6749, section 2.3") { context in
      switch context.authenticationError {
      case .severalMethods, .severalIdentifiers: .refuse(.multipleAuthenticationMethods)
      case .malformedHeader: .refuse(.clientAuthenticationMalformed)
      case nil: .pass
      }
    }
  }

  /// RFC 7662, section 2.1. Without authentication, a program could find out whose token it has found.
  static var resourceServerAuthenticated: Rule {
    Rule(name: "a resource server is authenticated", source: "RFC 7662, section 2.1") { context in
      guard context.authentication?.secret != nil else { return .refuse(.clientUnauthenticated) }
      return context.secretIsRight ? .pass : .refuse(.clientAuthenticationFailed)
    }
  }

  /// RFC 7662, section 2.1.
  static var introspectedTokenPresent: Rule {
    Rule(name: "the token is present", source: "RFC 7662, section 2.1") { context in
      context.parameters[.token] == nil ? .refuse(.introspectionTokenMissing) : .pass
    }
  }
}

/// Permission to answer an introspection request. Only `Enforcement` can create it.
public struct IntrospectionPermit: Sendable {
  /// The resource of the resource server, which learns only of tokens for this resource.
  public let resource: Resource
  /// The token in the request.
  public let token: Secret
}

extension Enforcement {
  /// Decides a request at the gateway's own introspection endpoint (RFC 7662, section 2.1).
  ///
  /// - Parameters:
  ///   - request: The request, parsed with `ParameterNames.atIntrospection`.
  ///   - policy: The current policy.
  public static func decideIntrospection(
    _ request: TokenRequest, policy: Policy
  ) -> DecisionWithFindings<IntrospectionPermit> {
    let context = IntrospectionContext(request: request, policy: policy)
    var run = RuleRun(mode: .enforce)
    if case .refused(let rejection, let detail) = run.run(RuleTable.introspection, on: context) {
      return DecisionWithFindings(
        decision: .reject(RejectionResponse(rejection, detail: detail)), findings: run.findings)
    }
    guard let resource = context.resource, let token = context.parameters[.token] else {
      return DecisionWithFindings(
        decision: .reject(RejectionResponse(.clientUnauthenticated)), findings: run.findings)
    }
    return DecisionWithFindings(
      decision: .forward(IntrospectionPermit(resource: resource, token: Secret(token))), findings: run.findings)
  }

  /// Returns true if the request has the secret of a resource server for the gateway, which the upstream must not learn.
  /// False if the resource server has the same credentials at the upstream.
  public static func hasSecretForGateway(introspection request: TokenRequest, policy: Policy) -> Bool {
    let context = IntrospectionContext(request: request, policy: policy)
    guard context.secretIsRight, let server = context.resource?.introspection else { return false }
    guard let upstream = server.upstream, upstream.clientID.rawValue == server.id else { return true }
    return !constantTimeEqual(upstream.clientSecret?.reveal() ?? "", server.secret.reveal())
  }

  /// Returns the request with which the gateway asks the upstream about a token; `nil` if the policy has no credentials
  /// of the resource server at the upstream (invariant `I-credentials`: those of a client are never used here).
  public static func upstreamIntrospection(of token: Secret, for resource: Resource) -> UpstreamTokenRequest? {
    guard let client = resource.introspection?.upstream, let secret = client.clientSecret else { return nil }
    return UpstreamTokenRequest(
      .held(client, secret), parameters: FormParameters(),
      entries: [FormParameters.Entry(.token, token.reveal()), FormParameters.Entry(.tokenTypeHint, "access_token")],
      hiding: [token])
  }
}
