import Enforcement
import Gateway
import OAuth
import Policy

extension Evaluator {
  // MARK: The authorization endpoint

  func authorization(_ request: TriedRequest) -> Evaluation {
    let parsed = request.authorizationRequest
    if request.method == "POST", !parsed.parameterSources.contains(where: AuthorizationRequest.hasOAuthParameters) {
      return form(parsed)
    }
    let id = parsed.clientID
    if let reason = unlistedClient(id) { return undetermined(reason, id) }
    if let reference = Enforcement.decidePushedReference(in: parsed, policy: policy),
      Enforcement.mode(of: parsed, policy: policy) == .enforce
    {
      guard let refusal = reference.refusal else {
        return undetermined("the request refers to a pushed one; explain the request that the client pushed", id)
      }
      return Evaluation(.reject(refusal))
    }
    let explained = Enforcement.explainAuthorization(parsed, policy: policy)
    var evaluation = Evaluation(outcome(explained.outcome))
    evaluation.client = id
    evaluation.mode = Enforcement.mode(of: parsed, policy: policy)
    evaluation.steps = explained.trace
    evaluation.findings = explained.outcome.findings
    evaluation.redirect = comparison(parsed.parameters, evaluation.steps)
    if let permit = explained.outcome.permit { add(permit, path: request.path, to: &evaluation) }
    return evaluation
  }

  private func add(_ permit: AuthorizationPermit, path: String, to evaluation: inout Evaluation) {
    guard permit.overlongParameter == nil else {
      evaluation.outcome = .reject(.withoutRedirect(.parameterTooLong))
      return
    }
    evaluation.asksForConsent = permit.needsConsent
    evaluation.upstream = UpstreamPreview(permit, path: path, policy)
  }

  /// A POST without OAuth parameters, which a page of the upstream sends.
  private func form(_ request: AuthorizationRequest) -> Evaluation {
    switch Enforcement.decideForm(request, hasRunningTransaction: false, policy: policy) {
    case .forward: return Evaluation(.forward)
    case .reject(let refusal): return Evaluation(.reject(refusal))
    case .pass:
      var evaluation = Evaluation(.pass)
      evaluation.mode = .observe
      evaluation.findings = [.wouldReject(.formWithoutTransaction)]
      return evaluation
    }
  }

  /// Returns the comparison of the redirect URI if a rule refused it.
  private func comparison(_ parameters: FormParameters, _ steps: [TraceStep]) -> RedirectComparison? {
    let isRefused = steps.contains { step in
      guard case .refuse(let rejection, _) = step.verdict else { return false }
      return [.redirectURIMismatch, .redirectURISyntax, .redirectURILocalhost].contains(rejection)
    }
    guard isRefused, let id = parameters[.clientID], let client = policy.clients[ClientID(id)],
      let uri = parameters[.redirectURI]
    else { return nil }
    return RedirectComparison(uri, client)
  }

  // MARK: The endpoints that clients call directly

  func token(_ request: TriedRequest) -> Evaluation {
    let parsed = request.clientRequest()
    if let refused = preliminary(parsed) { return refused }
    let explained = Enforcement.explainToken(parsed, policy: policy)
    var evaluation = evaluation(of: parsed, explained.outcome, explained.trace)
    switch explained.outcome.permit {
    case .redeem(let redemption): add(redemption, path: request.path, to: &evaluation)
    case .refresh(let refresh): add(refresh, path: request.path, to: &evaluation)
    case .device:
      evaluation.notes.append("the device code is assumed to be valid; the answer depends on what the user decided")
    case .sendUpstream(let form, _, _):
      evaluation.upstream = UpstreamPreview(form, path: request.path, policy)
    case nil:
      if case .pass = evaluation.outcome {
        evaluation.notes.append("a code or token that the gateway has sealed is enforced in every mode")
      }
    }
    let hasCredentials = parsed.readableClientAuthentication.map { $0.method != .none } ?? false
    evaluation.dropsCredentials = hasCredentials && evaluation.upstream?.hasCredentials == false
    return evaluation
  }

  private func add(_ redemption: RedemptionRequest, path: String, to evaluation: inout Evaluation) {
    guard let explained = Enforcement.explainRedemption(redemption, policy: policy) else { return }
    evaluation.notes.append("the code is not opened; it is assumed to be issued for this token request")
    evaluation.steps += explained.trace
    evaluation.findings += explained.outcome.findings
    evaluation.outcome = outcome(explained.outcome)
    evaluation.upstream = explained.outcome.permit.map { UpstreamPreview($0.upstream, path: path, policy) }
  }

  private func add(_ refresh: RefreshRequest, path: String, to evaluation: inout Evaluation) {
    guard let explained = Enforcement.explainRefresh(refresh, policy: policy) else { return }
    evaluation.notes.append("the refresh token is not opened; it is assumed to be issued to this client")
    evaluation.findings += explained.findings
    evaluation.outcome = outcome(explained)
    evaluation.upstream = explained.permit.map { UpstreamPreview($0.upstream, path: path, policy) }
  }

  func pushed(_ request: TriedRequest) -> Evaluation {
    let parsed = request.clientRequest(.atPushed)
    if let refused = preliminary(parsed) { return refused }
    guard Enforcement.mode(of: parsed, policy: policy) == .enforce else { return observed(parsed) }
    let explained = Enforcement.explainPushed(parsed, policy: policy)
    var evaluation = evaluation(of: parsed, explained.outcome, explained.trace)
    evaluation.redirect = comparison(parsed.parameters, explained.trace)
    if let permit = explained.outcome.permit?.authorization {
      add(permit, path: policy.upstream.endpoints.authorization.first ?? "/", to: &evaluation)
    }
    return evaluation
  }

  func deviceAuthorization(_ request: TriedRequest) -> Evaluation {
    let parsed = request.clientRequest(.atDeviceAuthorization)
    if let rejection = Enforcement.guardedIDRejection(in: parsed, guarded: identifiers, policy: policy) {
      return Evaluation(.reject(.withoutRedirect(rejection)))
    }
    if policy.devices == .atUpstream, Enforcement.mode(of: parsed, policy: policy) == .observe {
      return observed(parsed)
    }
    let explained = Enforcement.explainDeviceAuthorization(parsed, policy: policy)
    var evaluation = evaluation(of: parsed, explained.outcome, explained.trace)
    evaluation.mode = .enforce
    evaluation.upstream = explained.outcome.permit?.upstream.map { form in
      UpstreamPreview(form, path: request.path, policy)
    }
    return evaluation
  }

  func revocation(_ request: TriedRequest) -> Evaluation {
    let parsed = request.clientRequest()
    if let refused = preliminary(parsed) { return refused }
    let outcome = Enforcement.decideRevocation(parsed, opened: .invalid, policy: policy)
    var evaluation = evaluation(of: parsed, outcome, [])
    evaluation.notes.append("the token is not opened; it is assumed to be one of the upstream")
    return evaluation
  }

  func upstreamIntrospection(_ request: TriedRequest) -> Evaluation {
    let parsed = request.clientRequest()
    if let refused = preliminary(parsed) { return refused }
    var evaluation = observed(parsed)
    if let rejection = Enforcement.authorizationRejection(ofIntrospection: parsed) {
      if policy.isEnforcing {
        evaluation.outcome = .reject(.withoutRedirect(rejection))
      } else {
        evaluation.findings.append(.wouldReject(rejection))
      }
    }
    return evaluation
  }

  func resourceIntrospection(_ request: TriedRequest) -> Evaluation {
    let explained = Enforcement.explainIntrospection(request.clientRequest(.atIntrospection), policy: policy)
    var evaluation = Evaluation(outcome(explained.outcome))
    evaluation.mode = .enforce
    evaluation.steps = explained.trace
    return evaluation
  }

  // MARK: Parts of several endpoints

  private func evaluation<Permit: Sendable>(
    of request: TokenRequest, _ outcome: DecisionWithFindings<Permit>, _ trace: [TraceStep]
  ) -> Evaluation {
    var evaluation = Evaluation(self.outcome(outcome))
    evaluation.client = clientID(of: request)
    evaluation.mode = Enforcement.mode(of: request, policy: policy)
    evaluation.steps = trace
    evaluation.findings = outcome.findings
    if evaluation.mode == .observe,
      let rejection = Enforcement.guardedIDRejection(in: request, guarded: identifiersIfEnforced, policy: policy)
    {
      evaluation.findings.insert(.wouldReject(rejection), at: 0)
    }
    return evaluation
  }

  private func outcome<Permit: Sendable>(_ outcome: DecisionWithFindings<Permit>) -> Evaluation.Outcome {
    switch outcome.decision {
    case .forward: .forward
    case .pass: .pass
    case .reject(let refusal): .reject(refusal)
    }
  }

  private func clientID(of request: TokenRequest) -> String? {
    request.readableClientAuthentication?.clientID.rawValue
  }

  /// A request that passes unchanged.
  private func observed(_ request: TokenRequest) -> Evaluation {
    var evaluation = Evaluation(.pass)
    evaluation.client = clientID(of: request)
    evaluation.mode = Enforcement.mode(of: request, policy: policy)
    return evaluation
  }

  /// Returns the decision on a request that ends before the rules run: one with a client that the policy does not list,
  /// or with an id whose secret only the gateway may use.
  private func preliminary(_ request: TokenRequest) -> Evaluation? {
    let id = clientID(of: request)
    if let reason = unlistedClient(id) { return undetermined(reason, id) }
    guard let rejection = Enforcement.guardedIDRejection(in: request, guarded: identifiers, policy: policy) else {
      return nil
    }
    var evaluation = Evaluation(.reject(.withoutRedirect(rejection)))
    evaluation.client = id
    evaluation.mode = .enforce
    return evaluation
  }

  private func undetermined(_ reason: String, _ client: String?) -> Evaluation {
    var evaluation = Evaluation(.undetermined(reason))
    evaluation.client = client
    return evaluation
  }

  /// Returns the reason why the client of a request cannot be known here; `nil` if it can.
  private func unlistedClient(_ id: String?) -> String? {
    guard let id, policy.clients[ClientID(id)] == nil else { return nil }
    if policy.registration != nil, ClientID.isIssued(id) {
      return "the client registered itself, and only the gateway's key can read its id"
    }
    if policy.clientDocuments?.url(id) != nil {
      return "the client id is the URL of a metadata document, which only the gateway fetches"
    }
    return nil
  }
}
