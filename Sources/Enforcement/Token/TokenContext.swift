import Cryptography
import OAuth
import Policy

/// The facts for the rules of the token endpoint. They do not include the content of a sealed code or refresh token.
struct TokenContext: FormContext {
  /// The result of authenticating the client.
  enum Proof: Sendable {
    /// The client is public, so it is only identified.
    case identified
    /// The client presented the right secret.
    case verified
    /// The client presented credentials that only the upstream can compare.
    case presented
    /// A confidential client presented no credentials, or the request names no client of the policy.
    case missing
    /// The credentials are wrong, or the client may not use credentials of this kind.
    case wrong
  }

  let request: TokenRequest
  let policy: Policy
  let mode: EnforcementMode
  let authentication: ClientAuthentication?
  let authenticationError: ClientAuthenticationError?
  let client: Client?
  let proof: Proof

  init(request: TokenRequest, policy: Policy, mode: EnforcementMode = .enforce) {
    self.request = request
    self.policy = policy
    self.mode = mode
    let result = Result { () throws(ClientAuthenticationError) in try request.clientAuthentication() }
    switch result {
    case .success(let authentication):
      self.authentication = authentication
      authenticationError = nil
    case .failure(let error):
      authentication = nil
      authenticationError = error
    }
    client = authentication.flatMap { Client.find($0.clientID.rawValue, in: policy) }
    proof = TokenContext.proof(of: authentication, for: client)
  }

  var parameters: FormParameters { request.parameters }
  var names: ParameterNames { request.names }
  var problem: FormProblem? { request.problem }
  var requestedScope: Scope? {
    grant == .authorizationCode ? nil : parameters[.scope].flatMap { Scope(parsing: $0) }
  }
  var grant: GrantType? { parameters[.grantType].flatMap(GrantType.init(rawValue:)) }

  /// The verifier to compare; `nil` if the request has none, or a malformed one, or an unknown client.
  var verifier: CodeVerifier? {
    guard let client, let text = parameters[.codeVerifier] else { return nil }
    return CodeVerifier(parsing: text, syntax: client.verifierSyntax)
  }

  private static func proof(of authentication: ClientAuthentication?, for client: Client?) -> Proof {
    guard let client, let authentication else { return .missing }
    guard client.kind == .confidential else { return .identified }
    guard authentication.method != .none else { return .missing }
    guard let expected = client.expectedSecret else {
      // Only a client with the same id at the upstream can authenticate there.
      return client.upstream.clientID == client.id ? .presented : .wrong
    }
    guard let secret = authentication.secret else { return .wrong }
    let isEqual = constantTimeEqual(Array(secret.reveal().utf8), Array(expected.reveal().utf8))
    return isEqual ? .verified : .wrong
  }
}

extension Client {
  /// The secret that the gateway compares with the presented one: the one in the client's settings. A client with the
  /// same id at the upstream may have none there; then it must present the upstream secret that the gateway holds.
  /// `nil` if the gateway has nothing to compare.
  var expectedSecret: Secret? {
    self.secret ?? (self.upstream.clientID == self.id ? self.upstream.clientSecret : nil)
  }

  var verifierSyntax: VerifierSyntax { self.pkceSyntax == .lenient ? .lenient : .strict }
}
