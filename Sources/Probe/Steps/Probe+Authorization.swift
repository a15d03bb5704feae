extension Probe {
  /// Compares the reactions of the authorization endpoint to requests that differ in one parameter.
  func probeAuthorization() async throws(ProbeStop) {
    guard let path = observations.authorization?.path else { return }
    let foreign = ProbeValues.foreignRedirectURI
    let unknown = try await authorize(path, parameters(), redirectURI: foreign)
    observations.unknownClient = unknown
    guard let client = options.clientID, let redirectURI = options.redirectURI else {
      observations.validation = unknown.isAccepted ? nil : .beforeLogin
      return
    }
    let plain = try await authorizationAnswer(
      path, parameters(client: client, redirectURI: redirectURI), redirectURI: redirectURI)
    let known = plain.reaction
    observations.knownClient = known
    if known.isAccepted { observations.validation = known == unknown ? .afterLogin : .beforeLogin }
    guard known.isAccepted, known != unknown else { return }

    let wrongType = parameters(client: client, redirectURI: redirectURI, responseType: "proofgate")
    observations.unsupportedResponseType = try await authorize(path, wrongType, redirectURI: redirectURI)
    observations.unknownParameter = try await effect(of: [.init(ProbeValues.unknownParameter, "1")], plain)
    let challenge = ProbeValues.text(43)
    observations.challenge = try await effect(
      of: [.init("code_challenge", challenge), .init("code_challenge_method", "S256")], plain)
    if observations.challenge == .ignored {
      let wrong = try await effect(
        of: [.init("code_challenge", challenge), .init("code_challenge_method", "proofgate")], plain)
      observations.checksMethod = wrong != .ignored
    }
    let form = ProbeRequest(.post, path, parameters(client: client, redirectURI: redirectURI))
    let posted = Reaction(
      try await session.ask(form), redirectURI: redirectURI, path: path, origin: origin)
    observations.acceptsPOST = posted == known
    for (kind, uri) in Probe.otherRedirectURIs(redirectURI) {
      let reaction = try await authorize(path, parameters(client: client, redirectURI: uri), redirectURI: uri)
      observations.redirects[kind] = reaction
    }
  }

  /// Returns the effect of additional parameters: sends the request with them, and compares the response with that to
  /// the request without them.
  private func effect(
    of extras: [ProbeRequest.Parameter], _ plain: AuthorizationAnswer
  ) async throws(ProbeStop) -> Observations.Effect? {
    guard let path = observations.authorization?.path, let client = options.clientID,
      let redirectURI = options.redirectURI
    else { return nil }
    let answer = try await authorizationAnswer(
      path, parameters(client: client, redirectURI: redirectURI, adding: extras), redirectURI: redirectURI)
    if case .failure = answer.reaction { return nil }
    if answer.isLike(plain, exceptFor: extras) { return .ignored }
    return answer.reaction == plain.reaction ? .changed : .refused(answer.reaction)
  }

  /// Returns redirect URIs that differ from the registered one. None of them leads to a program.
  static func otherRedirectURIs(_ registered: String) -> [(Observations.RedirectKind, String)] {
    let base = registered.prefix { $0 != "?" && $0 != "#" }
    var uris: [(Observations.RedirectKind, String)] = [
      (.otherPath, base + (base.hasSuffix("/") ? "" : "/") + "proofgate-probe"),
      (.otherQuery, registered + (registered.contains("?") ? "&" : "?") + "proofgate_probe=1"),
      (.otherHost, ProbeValues.foreignRedirectURI), (.loopback, "http://127.0.0.1:9/proofgate-probe"),
      (.privateUse, "invalid.proofgate.probe:/callback"),
    ]
    if let other = otherPort(registered) { uris.append((.loopbackOtherPort, other)) }
    return uris
  }

  /// Returns a loopback redirect URI with another port; `nil` if the URI is not of that kind (RFC 8252, section 7.3).
  private static func otherPort(_ registered: String) -> String? {
    guard let host = ["127.0.0.1", "[::1]", "localhost"].first(where: { registered.hasPrefix("http://\($0)") }) else {
      return nil
    }
    let rest = registered.dropFirst("http://\(host)".count)
    let path = rest.hasPrefix(":") ? rest.dropFirst().drop { $0.isNumber } : rest
    return "http://\(host):9\(path)"
  }
}
