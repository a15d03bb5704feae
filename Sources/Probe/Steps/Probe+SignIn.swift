import ByteText
import Cryptography
import JSON
import OAuth
import Policy

/// Asks the operator for the URL to which the browser was redirected.
package protocol SignInPrompt {
  /// Shows the authorization URL and the purpose, and returns the text that the operator enters; `nil` for none.
  func callback(for url: String, purpose: String) async -> Secret?
}

extension Probe {
  /// The length of the `state` of a sign-in, in bytes: about that of a sealed state.
  private static let stateLength = 320

  /// Lets the operator sign in at the server, and redeems the code.
  package func signIn(_ prompt: some SignInPrompt) async {
    guard stop == nil, let client = options.clientID, let redirectURI = options.redirectURI,
      let path = observations.authorization?.path
    else { return }
    do throws(ProbeStop) {
      let challengeIsRefused = if case .refused? = observations.challenge { true } else { false }
      let limit = if case .exactly(let limit)? = observations.stateLimit { limit } else { Probe.stateLength }
      let state = ProbeValues.text(min(limit, Probe.stateLength))
      let verifier = UpstreamVerifier(bytes: randomBytes(UpstreamVerifier.byteCount))
      var extras = [ProbeRequest.Parameter(ProbeValues.unknownParameter, "1")]
      if let verifier, !challengeIsRefused {
        extras += [.init("code_challenge", verifier.challenge.text), .init("code_challenge_method", "S256")]
      }
      let first = ProbeRequest(
        .get, path, parameters(client: client, redirectURI: redirectURI, state: state, adding: extras))
      guard
        let answer = await prompt.callback(
          for: options.target.origin.description + first.target, purpose: "to see what the server does with a sign-in")
      else { return }
      var seen = SignInObservations()
      seen.hadExtras = !challengeIsRefused
      seen.stateLength = state.utf8.count
      let code = Probe.read(answer, state, &seen)
      observations.signIn = seen
      // The response of another sign-in, with another `state`, shows nothing about this challenge.
      if let code { try await redeem(code, challengeIsRefused || seen.state == .changed ? nil : verifier) }
      if observations.signIn?.verifier == .probablyEnforced, let verifier {
        try await confirmVerifier(prompt, first, verifier)
      }
      guard observations.signIn?.redemption?.hasTokens == true, observations.signIn?.verifier != .enforced else {
        return
      }
      let second = ProbeRequest(.get, path, parameters(client: client, redirectURI: redirectURI))
      guard
        let other = await prompt.callback(
          for: options.target.origin.description + second.target,
          purpose: "for the comparison of `redirect_uri` at the token endpoint; an empty line skips it")
      else { return }
      var ignored = SignInObservations()
      guard let code = Probe.read(other, "", &ignored) else { return }
      let reaction = try await redeem(grant(code, redirectURI: redirectURI + "/proofgate-probe"))
      observations.signIn?.comparesRedirectURI = reaction.map { !$0.hasTokens }
    } catch {
      stop = error
    }
  }

  /// Redeems the code of a second sign-in with the right verifier, because the wrong one has used up the first code.
  private func confirmVerifier(
    _ prompt: some SignInPrompt, _ request: ProbeRequest, _ verifier: UpstreamVerifier
  ) async throws(ProbeStop) {
    var ignored = SignInObservations()
    guard
      let answer = await prompt.callback(
        for: options.target.origin.description + request.target,
        purpose: "once more, because the test of PKCE has used up the first code; an empty line skips it"),
      let code = Probe.read(answer, nil, &ignored),
      let answer = try await send(grant(code, redirectURI: redirectURI, verifier: verifier.secret.reveal()))
    else { return }
    guard TokenReaction(answer).hasTokens else { return }
    observations.signIn?.verifier = .enforced
    try await record(answer, of: code, verifier)
  }

  /// Redeems a code, or the code of a callback URL, that the operator has from an earlier sign-in.
  package func redeemCallback(_ text: Secret) async {
    guard stop == nil else { return }
    do throws(ProbeStop) {
      var seen = SignInObservations()
      let code = Probe.read(text, nil, &seen)
      observations.signIn = seen
      if let code { try await redeem(code, nil) }
    } catch {
      stop = error
    }
  }

  /// Reads the response in a callback URL. A text without a query is a code.
  private static func read(_ text: Secret, _ state: String?, _ seen: inout SignInObservations) -> Secret? {
    let text = text.reveal()
    let query = text.drop { $0 != "?" && $0 != "#" }.dropFirst()
    let parameters = query.isEmpty && !text.contains(":") ? ["code": text] : QueryText.pairs(query.prefix { $0 != "#" })
    seen.error = parameters["error"].map(Word.printable)
    if let state {
      seen.state = parameters["state"].map { $0 == state ? .unchanged : .changed } ?? .missing
    }
    guard let code = parameters["code"], !code.isEmpty else { return nil }
    seen.codeLength = code.utf8.count
    seen.alphabet = .init(code)
    return Secret(code)
  }

  private func grant(_ code: Secret, redirectURI: String, verifier: String? = nil) -> [ProbeRequest.Parameter] {
    [
      .init("grant_type", "authorization_code"), .init("code", code.reveal()), .init("redirect_uri", redirectURI),
    ] + (verifier.map { [.init("code_verifier", $0)] } ?? [])
  }

  /// Sends a token request of the operator's client with the best method that is known.
  private func send(_ parameters: [ProbeRequest.Parameter]) async throws(ProbeStop) -> ProbeAnswer? {
    let method = workingMethod ?? (options.clientSecret == nil ? Method.none : .basic)
    return try await tokenAnswer(parameters, method, options.clientID, options.clientSecret)
  }

  private func redeem(_ parameters: [ProbeRequest.Parameter]) async throws(ProbeStop) -> TokenReaction? {
    try await send(parameters).map(TokenReaction.init)
  }

  private func redeem(_ code: Secret, _ verifier: UpstreamVerifier?) async throws(ProbeStop) {
    var answer: ProbeAnswer?
    if let verifier {
      answer = try await send(grant(code, redirectURI: redirectURI, verifier: ProbeValues.text(43)))
      if let first = answer, TokenReaction(first).hasTokens {
        observations.signIn?.verifier = .ignored
      } else {
        answer = try await send(grant(code, redirectURI: redirectURI, verifier: verifier.secret.reveal()))
        observations.signIn?.verifier = answer.map { TokenReaction($0).hasTokens ? .enforced : .probablyEnforced }
      }
    } else {
      answer = try await send(grant(code, redirectURI: redirectURI))
    }
    if let answer { try await record(answer, of: code, verifier) }
  }

  /// Records the response to a redemption, and uses code and refresh token once more.
  private func record(_ answer: ProbeAnswer, of code: Secret, _ verifier: UpstreamVerifier?) async throws(ProbeStop) {
    let reaction = TokenReaction(answer)
    observations.signIn?.redemption = reaction
    guard reaction.hasTokens else { return }
    let members = answer.members
    observations.signIn?.commaSeparatedScopes = members["scope"]?.contains(",") ?? false
    observations.signIn?.idTokenIssuer = members["id_token"].flatMap(Probe.issuer)
    observations.signIn?.hasRefreshToken = members["refresh_token"] != nil
    let again = try await redeem(grant(code, redirectURI: redirectURI, verifier: verifier?.secret.reveal()))
    observations.signIn?.reuse = again.map { $0.hasTokens ? .accepted : .refused }
    try await refreshAndRevoke(members)
  }

  private func refreshAndRevoke(_ members: [String: String]) async throws(ProbeStop) {
    var tokens = [members["refresh_token"], members["access_token"]].compactMap(\.self).map(Secret.init)
    if let token = members["refresh_token"].map(Secret.init) {
      let request = [ProbeRequest.Parameter("grant_type", "refresh_token"), .init("refresh_token", token.reveal())]
      if let first = try await send(request), TokenReaction(first).hasTokens {
        let next = first.members["refresh_token"]
        observations.signIn?.rotates = next != nil && next != token.reveal()
        tokens += [next, first.members["access_token"]].compactMap(\.self).map(Secret.init)
        if observations.signIn?.rotates == true {
          let second = try await send(request)
          observations.signIn?.oldRefreshToken = second.map { TokenReaction($0).hasTokens ? .accepted : .refused }
          tokens += [second?.members["refresh_token"], second?.members["access_token"]].compactMap(\.self)
            .map(Secret.init)
        }
      }
    }
    guard let path = observations.revocation?.path else { return }
    var succeeded = true
    for token in tokens {
      let method = workingMethod ?? (options.clientSecret == nil ? Method.none : .basic)
      let request = Probe.authenticated(
        ProbeRequest(.post, path, [.init("token", token.reveal())]), method, options.clientID, options.clientSecret)
      guard case .success(let answer) = try await session.ask(request), answer.status == 200 else {
        succeeded = false
        continue
      }
    }
    observations.signIn?.revoked = succeeded
  }

  /// Returns the issuer in an ID token; its signature is not checked.
  private static func issuer(_ token: String) -> String? {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let payload = Base64URL.decode(String(parts[1])) else { return nil }
    return JSONValue.members(of: payload)?["iss"]?.text
  }
}
