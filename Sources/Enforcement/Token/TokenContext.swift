import Cryptography
import OAuth
import Policy

/// What the rules of the token endpoint look at before a code or token is opened.
struct TokenContext: FormContext {
  /// How far the client proved that it is who it says.
  enum Proof: Sendable {
    /// A public client: it only said who it is.
    case identified
    /// The gateway compared its secret.
    case verified
    /// It presented credentials that only the upstream can compare.
    case presented
    case missing
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

  /// The verifier to compare.
  var verifier: CodeVerifier? {
    guard let client, let text = parameters[.codeVerifier] else { return nil }
    return CodeVerifier(parsing: text, padding: client.verifierPadding)
  }

  private static func proof(of authentication: ClientAuthentication?, for client: Client?) -> Proof {
    guard let client, let authentication else { return .missing }
    guard client.kind == .confidential else { return .identified }
    guard authentication.method != .none else { return .missing }
    guard let expected = client.expectedSecret else {
      // Only a client that is itself at the upstream can prove itself there.
      return client.upstream.clientID == client.id ? .presented : .wrong
    }
    guard let secret = authentication.secret else { return .wrong }
    let isRight = constantTimeEqual(Array(secret.reveal().utf8), Array(expected.reveal().utf8))
    return isRight ? .verified : .wrong
  }
}

extension Client {
  /// What a confidential client's secret is compared with: its own, or, where it is itself at the upstream, the one that
  /// the gateway holds for it there, which is then the same.
  var expectedSecret: Secret? {
    self.secret ?? (self.upstream.clientID == self.id ? self.upstream.clientSecret : nil)
  }

  var verifierPadding: Base64Padding { self.pkceSyntax == .lenient ? .tolerated : .refused }
}
