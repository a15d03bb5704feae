import OAuth

extension Probe {
  /// Finds the form of errors and the methods of client authentication, with codes that do not exist.
  func probeToken() async throws(ProbeStop) {
    guard let path = observations.token?.path else { return }
    let foreign = ProbeValues.foreignRedirectURI
    let get = try await session.ask(ProbeRequest(.get, path, badCode(redirectURI: foreign)))
    observations.tokenGET = (try? get.get()).map(TokenReaction.init)
    if observations.tokenError == nil {
      observations.tokenError = try await redeem(badCode(redirectURI: foreign))
    }
    guard let client = options.clientID else { return }
    guard let secret = options.clientSecret else {
      try await probePublicClient(client)
      return
    }
    let wrong = Secret(ProbeValues.text(24))
    for method in [Method.basic, .post] {
      let right = try await redeem(badCode(redirectURI: redirectURI), method, client, secret)
      let refused = try await redeem(badCode(redirectURI: redirectURI), method, client, wrong)
      let result = Probe.authentication(right, refused)
      if method == .basic { observations.basic = result } else { observations.post = result }
      if result == .accepted, observations.badCode == nil { observations.badCode = right }
    }
    // A secret that form encoding changes may need the form that older servers read.
    let isEncoded = FormEncoding.encode(secret.reveal()) != secret.reveal()
    if observations.basic != .accepted, observations.post != .accepted, isEncoded {
      let right = try await redeem(badCode(redirectURI: redirectURI), .basicRaw, client, secret)
      let refused = try await redeem(badCode(redirectURI: redirectURI), .basicRaw, client, wrong)
      observations.basicRaw = Probe.authentication(right, refused)
      if observations.basicRaw == .accepted { observations.badCode = right }
    }
    guard let method = workingMethod, let bad = observations.badCode else { return }
    let without = try await redeem(badCode(redirectURI: redirectURI, adding: [.init("client_id", client)]))
    observations.worksWithoutSecret = without.map { $0 == bad }
    try await probeTokenParameters(method, client, secret, bad)
  }

  /// A method of client authentication (RFC 6749, section 2.3.1).
  enum Method: Sendable {
    case basic, post
    /// HTTP Basic without form encoding (RFC 7617).
    case basicRaw
    /// A client without a secret.
    case none
  }

  var redirectURI: String { options.redirectURI ?? ProbeValues.foreignRedirectURI }

  /// The method with which the client of the operator certainly authenticates; `nil` if none is known.
  var workingMethod: Method? {
    if observations.basic == .accepted { return .basic }
    if observations.post == .accepted { return .post }
    if observations.basicRaw == .accepted { return .basicRaw }
    return options.clientSecret == nil && observations.worksWithoutSecret == true ? Method.none : nil
  }

  private func probePublicClient(_ client: String) async throws(ProbeStop) {
    let right = try await redeem(badCode(redirectURI: redirectURI), Method.none, client)
    let unknown = try await redeem(
      badCode(redirectURI: redirectURI), Method.none, "proofgate-probe-" + ProbeValues.text(12))
    guard let right, let unknown else { return }
    observations.worksWithoutSecret = !right.refusesClient && right != unknown
    guard observations.worksWithoutSecret == true else { return }
    observations.badCode = right
    try await probeTokenParameters(Method.none, client, nil, right)
  }

  private func probeTokenParameters(
    _ method: Method, _ client: String, _ secret: Secret?, _ bad: TokenReaction
  ) async throws(ProbeStop) {
    let extras = [ProbeRequest.Parameter("code_verifier", ProbeValues.text(43))]
    let verifier = try await redeem(badCode(redirectURI: redirectURI, adding: extras), method, client, secret)
    observations.verifierParameter = verifier.map { $0 == bad }
    let other = try await redeem(
      badCode(redirectURI: redirectURI, adding: [.init(ProbeValues.unknownParameter, "1")]), method, client, secret)
    observations.tokenUnknownParameter = other.map { $0 == bad }
  }

  /// Sends a request to the token endpoint. Returns `nil` if there is no answer.
  func redeem(
    _ parameters: [ProbeRequest.Parameter], _ method: Method = .none, _ client: String? = nil, _ secret: Secret? = nil
  ) async throws(ProbeStop) -> TokenReaction? {
    try await tokenAnswer(parameters, method, client, secret).map(TokenReaction.init)
  }

  func tokenAnswer(
    _ parameters: [ProbeRequest.Parameter], _ method: Method, _ client: String?, _ secret: Secret?
  ) async throws(ProbeStop) -> ProbeAnswer? {
    guard let path = observations.token?.path else { return nil }
    let request = Probe.authenticated(ProbeRequest(.post, path, parameters), method, client, secret)
    return try? (try await session.ask(request)).get()
  }

  static func authenticated(
    _ request: ProbeRequest, _ method: Method, _ client: String?, _ secret: Secret?
  ) -> ProbeRequest {
    var request = request
    guard let client else { return request }
    switch (method, secret) {
    case (.basic, let secret?):
      request.authorization = BasicCredentials(user: client, password: secret).header
    case (.basicRaw, let secret?):
      request.authorization = BasicCredentials(user: client, password: secret).rawHeader
    case (.post, let secret?):
      request.parameters += [.init("client_id", client), .init("client_secret", secret.reveal())]
    case (.none, _), (_, nil): request.parameters.append(.init("client_id", client))
    }
    return request
  }

  private static func authentication(
    _ right: TokenReaction?, _ wrong: TokenReaction?
  ) -> Observations.Authentication? {
    guard let right, let wrong else { return nil }
    if right == wrong { return right.refusesClient ? .refused : .unclear }
    return right.refusesClient ? .refused : .accepted
  }
}
