import Cryptography
import OAuth
import Policy

/// The facts for the rules of the token endpoint, before a code or token is opened.
struct TokenContext: FormContext {
  /// The degree to which the client has been authenticated.
  enum Proof: Sendable {
    /// A public client: it only named itself.
    case identified
    /// The gateway compared the client's secret.
    case verified
    /// The client presented credentials that only the upstream can compare.
    case presented
    /// A confidential client presented no credentials, or the client is unknown.
    case missing
    /// The credentials are wrong or of a kind that the client may not use.
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
    let read = Result { () throws(ClientAuthenticationError) in try request.clientAuthentication() }
    switch read {
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
  var askedScope: Scope? {
    grant == .authorizationCode ? nil : parameters[.scope].flatMap { Scope(parsing: $0) }
  }
  var grant: GrantType? { parameters[.grantType].flatMap(GrantType.init(rawValue:)) }

  /// The verifier to compare; `nil` if the request has none, or a malformed one.
  var verifier: CodeVerifier? {
    guard let client, let text = parameters[.codeVerifier] else { return nil }
    return CodeVerifier(parsing: text, padding: client.verifierPadding)
  }

  private static func proof(of authentication: ClientAuthentication?, for client: Client?) -> Proof {
    guard let client, let authentication else { return .missing }
    guard client.kind == .confidential else { return .identified }
    guard authentication.method != .none else { return .missing }
    guard let expected = client.expectedSecret else {
      // Only a client that uses its own id at the upstream can authenticate there.
      return client.upstream.clientID == client.id ? .presented : .wrong
    }
    guard let secret = authentication.secret else { return .wrong }
    let isRight = constantTimeEqual(Array(secret.reveal().utf8), Array(expected.reveal().utf8))
    return isRight ? .verified : .wrong
  }
}

extension Client {
  /// The secret that a confidential client must present: the one in its settings, or, if the client uses its own id at
  /// the upstream, the one that the gateway holds for it there. The two are then the same.
  var expectedSecret: Secret? {
    self.secret ?? (self.upstream.clientID == self.id ? self.upstream.clientSecret : nil)
  }

  var verifierPadding: Base64Padding { self.pkceSyntax == .lenient ? .tolerated : .refused }
}
