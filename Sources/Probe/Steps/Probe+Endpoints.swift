extension Probe {
  /// The reactions to paths that no server has. A server that answers every path alike, for example with its login page,
  /// would otherwise seem to have every endpoint.
  private struct Missing {
    let authorization: Reaction
    let post: Result<ProbeAnswer, ProbeFailure>
  }

  /// Finds the endpoints: those of the operator, of the document, or of a known server.
  func findEndpoints() async throws(ProbeStop) {
    if let path = options.authorization {
      observations.authorization = .init(path: path, source: .option, isConfirmed: false)
    }
    if let path = options.token { observations.token = .init(path: path, source: .option, isConfirmed: false) }
    let missing = try await askMissing()
    try await confirmNamedEndpoints(missing)
    var tried: Set<String> = []
    for family in EndpointFamily.all where observations.token == nil {
      let path = options.target.folder + family.token
      if tried.insert(path).inserted, try await isToken(path, missing) {
        observations.token = .init(path: path, source: .search, isConfirmed: true)
      }
    }
    // The families of the token endpoint first, then those of all other servers.
    let folder = options.target.folder
    let families =
      EndpointFamily.all.filter { folder + $0.token == observations.token?.path }
      + EndpointFamily.all.filter { folder + $0.token != observations.token?.path }
    for family in families where observations.authorization == nil {
      guard tried.insert(folder + family.authorization).inserted,
        let path = try await authorizationPath(folder + family.authorization, missing)
      else { continue }
      observations.authorization = .init(path: path, source: .search, isConfirmed: true)
    }
    try await findOtherEndpoints(missing)
    try await readLateMetadata()
  }

  private func askMissing() async throws(ProbeStop) -> Missing {
    let path = options.target.folder + "/proofgate-probe-" + ProbeValues.text(12)
    return Missing(
      authorization: try await authorize(path, parameters(), redirectURI: ProbeValues.foreignRedirectURI),
      post: try await session.ask(ProbeRequest(.post, path, [.init("token", ProbeValues.text(16))])))
  }

  private func confirmNamedEndpoints(_ missing: Missing) async throws(ProbeStop) {
    if let named = observations.authorization, let path = try await authorizationPath(named.path, missing) {
      observations.authorization?.path = path
      observations.authorization?.isConfirmed = true
    }
    if let named = observations.token {
      let isConfirmed = try await isToken(named.path, missing)
      observations.token?.isConfirmed = isConfirmed
    }
  }

  /// Returns the path of the authorization endpoint at this path, or at the path with or without a slash to which the
  /// server redirects; `nil` if there is none.
  private func authorizationPath(_ path: String, _ missing: Missing) async throws(ProbeStop) -> String? {
    let reaction = try await authorize(path, parameters(), redirectURI: ProbeValues.foreignRedirectURI)
    switch reaction {
    case .moved(let other):
      let next = try await authorize(other, parameters(), redirectURI: ProbeValues.foreignRedirectURI)
      if case .moved = next { return nil }
      return Probe.exists(next, missing.authorization) ? other : nil
    case .login, .otherSite, .page, .errorPage, .errorRedirect, .errorToApp, .answerToApp, .json, .failure:
      return Probe.exists(reaction, missing.authorization) ? path : nil
    }
  }

  private static func exists(_ reaction: Reaction, _ missing: Reaction) -> Bool {
    switch reaction {
    case .errorPage(let status), .json(let status):
      // The server has no such path, or refuses every path; only a request problem proves an endpoint.
      return ![401, 403, 404, 405, 410, 501, 502, 503, 504].contains(status) && reaction != missing
    case .failure, .moved: return false
    case .login, .otherSite, .page, .errorRedirect, .errorToApp, .answerToApp: return reaction != missing
    }
  }

  /// True if the path answers a token request with an error of OAuth. Some servers answer every unknown path with an
  /// error in JSON.
  private func isToken(_ path: String, _ missing: Missing) async throws(ProbeStop) -> Bool {
    let request = ProbeRequest(.post, path, badCode(redirectURI: ProbeValues.foreignRedirectURI))
    guard case .success(let answer) = try await session.ask(request) else { return false }
    let reaction = TokenReaction(answer)
    guard reaction.isOAuth else { return false }
    if case .success(let other) = missing.post, TokenReaction(other) == reaction { return false }
    observations.tokenError = observations.tokenError ?? reaction
    return true
  }

  /// Returns the parameters of a token request with a code that does not exist.
  func badCode(redirectURI: String, adding extras: [ProbeRequest.Parameter] = []) -> [ProbeRequest.Parameter] {
    [
      .init("grant_type", "authorization_code"), .init("code", ProbeValues.text(32)),
      .init("redirect_uri", redirectURI),
    ] + extras
  }

  /// Looks for revocation and introspection next to the token endpoint. The token of the requests does not exist.
  private func findOtherEndpoints(_ missing: Missing) async throws(ProbeStop) {
    guard let token = observations.token, token.source != .document else { return }
    let folder = options.target.folder
    for family in EndpointFamily.all where folder + family.token == token.path {
      if observations.revocation == nil, let path = family.revocation.map({ folder + $0 }),
        try await answersForms(path, missing)
      {
        observations.revocation = .init(path: path, source: .search, isConfirmed: true)
      }
      if observations.introspection == nil, let path = family.introspection.map({ folder + $0 }),
        try await answersForms(path, missing)
      {
        observations.introspection = .init(path: path, source: .search, isConfirmed: true)
      }
    }
  }

  private func answersForms(_ path: String, _ missing: Missing) async throws(ProbeStop) -> Bool {
    guard
      case .success(let answer) = try await session.ask(
        ProbeRequest(.post, path, [.init("token", ProbeValues.text(16))])),
      ![404, 405, 410, 501].contains(answer.status)
    else { return false }
    if TokenReaction(answer).isOAuth { return true }
    guard case .success(let other) = missing.post else { return true }
    return other.status != answer.status
  }
}
