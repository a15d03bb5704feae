import Policy

/// Finds out how an OAuth server behaves. Each step sends requests and records what it has seen in `observations`; later
/// steps use what earlier ones have found.
///
/// No step sends a password, and none registers a client. The only credentials are those of the client that the operator
/// names, and codes and tokens of a sign-in that the operator performs for the probe.
package final class Probe {
  let options: ProbeOptions
  package let session: ProbeSession
  package internal(set) var observations = Observations()
  /// The reason why the probe ended early; `nil` if it did not.
  package internal(set) var stop: ProbeStop?
  /// True if the URL leads to a Proofgate gateway in place of a server.
  package internal(set) var isGateway = false

  package init(_ options: ProbeOptions, _ session: ProbeSession) {
    self.options = options
    self.session = session
  }

  /// Runs all steps that need no user.
  package func run() async {
    do throws(ProbeStop) {
      try await findGateway()
      guard !isGateway else { return }
      try await findHost()
      try await readMetadata()
      try await findEndpoints()
      try await probeAuthorization()
      try await probeToken()
      try await probeLimits()
    } catch {
      stop = error
    }
  }

  /// Detects a gateway by a page that only a gateway has.
  private func findGateway() async throws(ProbeStop) {
    let path = options.target.folder + Probe.gatewayPage
    guard case .success(let answer) = try await session.ask(ProbeRequest(.get, path)) else { return }
    isGateway = Probe.isGatewayPage(answer)
  }

  /// The page of a rule, which each gateway serves.
  static let gatewayPage = "/.proofgate/rules/pkce-required"

  static func isGatewayPage(_ answer: ProbeAnswer) -> Bool {
    answer.status == 200 && answer.contains("pkce-required")
  }

  /// The origin by which the server knows itself: its URL, or the public host if it answers only with that one.
  var origin: Origin {
    let own = options.target.origin
    guard observations.host == .publicOnly, let gateway = options.gateway else { return own }
    return Origin(scheme: own.scheme, host: gateway.host, port: own.scheme == gateway.scheme ? gateway.port : nil)
  }

  /// True if the operator has named a client and a redirect URI.
  package var hasClient: Bool { options.clientID != nil && options.redirectURI != nil }

  /// Sends an authorization request.
  func authorize(
    _ path: String, _ parameters: [ProbeRequest.Parameter], redirectURI: String
  ) async throws(ProbeStop) -> Reaction {
    try await authorizationAnswer(path, parameters, redirectURI: redirectURI).reaction
  }

  /// Sends an authorization request, and returns the parts of its response that can be compared.
  func authorizationAnswer(
    _ path: String, _ parameters: [ProbeRequest.Parameter], redirectURI: String
  ) async throws(ProbeStop) -> AuthorizationAnswer {
    AuthorizationAnswer(
      try await session.ask(ProbeRequest(.get, path, parameters)), redirectURI: redirectURI, path: path,
      origin: origin)
  }

  /// Returns the parameters of an authorization request, by default of a client that no server knows.
  func parameters(
    client: String? = nil, redirectURI: String = ProbeValues.foreignRedirectURI, responseType: String = "code",
    state: String = ProbeValues.text(8), adding extras: [ProbeRequest.Parameter] = []
  ) -> [ProbeRequest.Parameter] {
    var parameters: [ProbeRequest.Parameter] = [
      .init("response_type", responseType), .init("client_id", client ?? "proofgate-probe-" + ProbeValues.text(12)),
      .init("redirect_uri", redirectURI), .init("state", state),
    ]
    if let scope = options.scope { parameters.append(.init("scope", scope)) }
    return parameters + extras
  }
}
