public import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Stores
import Telemetry
import Time

/// The authorization endpoint (RFC 6749, section 3.1).
///
/// It handles new authorization requests, re-entry (requests of upstream login and consent pages that contain the
/// sealed state of a running transaction), and forms of upstream pages without OAuth parameters. The sealed state is
/// the `state` that the gateway sends upstream: the encrypted transaction, or a short handle for it.
struct AuthorizationEndpoint {
  /// The lifetime of a transaction and of its sealed state: the time that a user has to sign in.
  static let transactionLifetime: Seconds = 900

  private let intercepted: InterceptedRequest
  private let request: AuthorizationRequest
  private var session: BrowserSession?

  init(_ intercepted: InterceptedRequest) {
    self.intercepted = intercepted
    let incoming = intercepted.request
    request = AuthorizationRequest(
      method: incoming.method, query: incoming.query, contentTypes: incoming.headers.all("Content-Type"),
      contentEncodings: incoming.headers.all("Content-Encoding"), body: incoming.body,
      userAgent: incoming.headers["User-Agent"])
    session = intercepted.session()
    intercepted.chargeWork()
  }

  func respond() async -> Reply {
    do throws(StoreError) {
      // The query and the body may contain several `state` parameters.
      for state in request.states {
        switch try await intercepted.gateway.states.open(state, now: intercepted.now) {
        case .value(let transaction): return await reenter(transaction, state: state)
        // The state may be a value of the client's own that has the format of a sealed one.
        case .keyUnknown where isFromClient || isObserved: continue
        case .keyUnknown: return .response(intercepted.respond(with: .withoutRedirect(.sealingKeyUnknown)))
        case .invalid: continue
        }
      }
    } catch {
      // The store is unavailable, so it is not known whether the gateway sealed the state. If the policy enforces no
      // client, an observed request may pass.
      guard isObserved, !intercepted.policy.isEnforcing else {
        return .response(intercepted.respond(with: .withoutRedirect(.storeUnavailable)))
      }
    }
    if intercepted.request.method == "POST",
      !request.parameterSources.contains(where: AuthorizationRequest.hasOAuthParameters)
    {
      return await handleForm()
    }
    return await handleNewRequest()
  }

  /// True if the request has the id of a client that has another id at the upstream. The client itself sent such a
  /// request, because requests of upstream pages have the upstream id. Its `state` is then the client's own, even if it
  /// resembles a sealed state.
  private var isFromClient: Bool {
    // The upstream never gets the URL of a client document.
    if let id = request.parameters[.clientID], intercepted.documentURL(id) != nil { return true }
    guard let id = request.parameters[.clientID], let client = intercepted.client(ClientID(id)) else {
      return false
    }
    return client.upstream.clientID != client.id
  }

  private func unlisted(_ request: AuthorizationRequest) -> Client? {
    intercepted.unlistedClient(request.parameters[.clientID])
  }

  private var isObserved: Bool { Enforcement.mode(of: request, policy: intercepted.policy) == .observe }

  // MARK: A new request

  private func handleNewRequest() async -> Reply {
    intercepted.recordClient(id: request.clientID)
    if let reply = await observeForm() { return reply }
    if let refused = await intercepted.readDocument(for: request, isRestarted: false) { return .response(refused) }
    if let outcome = Enforcement.decidePushedReference(
      in: request, policy: intercepted.policy, unlisted: unlisted(request))
    {
      if let reply = await beginWithPushedRequest(outcome) { return reply }
    }
    let outcome = Enforcement.decideAuthorization(
      request, policy: intercepted.policy, stateIsSealed: false, now: intercepted.now, unlisted: unlisted(request))
    intercepted.trail.record(outcome)
    switch outcome.decision {
    case .reject(let refusal):
      intercepted.trail.details = RequestDetails(authorization: request.parameters)
      return .response(intercepted.respond(with: refusal))
    case .pass: return await observe()
    case .forward(let permit):
      intercepted.trail.details = RequestDetails(authorization: request.parameters, redirectURI: permit.redirectURI)
      if let response = respondToCrossSiteForm() { return .response(response) }
      return await begin(permit, request, isPushed: false)
    }
  }

  /// Restarts a sign-in with the authorization request in a start ticket (see `StartTicket`). The rules for a new
  /// request run under the current policy.
  func restart(with ticket: StartTicket) async -> Reply {
    intercepted.originalAuthorizationPath = ticket.path
    let original = AuthorizationRequest(method: "GET", query: Substring(ticket.query), userAgent: request.userAgent)
    intercepted.recordClient(id: original.parameters[.clientID])
    if let refused = await intercepted.readDocument(for: original, isRestarted: true) { return .response(refused) }
    let outcome = Enforcement.decideAuthorization(
      // The gateway sealed the ticket that contained the request, so the request is enforced in every mode.
      original, policy: intercepted.policy, stateIsSealed: false, requestWasSealed: true, isRestarted: true,
      now: intercepted.now, unlisted: unlisted(original))
    intercepted.trail.record(outcome)
    guard let permit = outcome.permit else {
      return .response(intercepted.respond(with: outcome.refusal ?? .withoutRedirect(.transactionNoLongerValid)))
    }
    return await begin(permit, original, isPushed: false)
  }

  /// Returns a redirect to the same request as a link if another site posted it as a form; `nil` for other requests.
  ///
  /// Browsers attach the cookie of the gateway to links of other sites, but not to their forms. Without its cookie, a
  /// browser would get a new session, and its running sign-ins would fail (`I-browser`).
  private func respondToCrossSiteForm() -> Response? {
    guard !intercepted.gateway.snapshot.cookie.isCrossSite, intercepted.isCrossSitePost else { return nil }
    let target = intercepted.authorizationPath + "?" + request.parameters.serialised
    guard target.utf8.count <= intercepted.policy.gateway.limits.targetLength else {
      intercepted.trail.recordRefusal(.parameterMalformed)
      let detail = "the form of another site is longer than `target_length`, so it cannot be repeated as a link"
      return intercepted.pages.error(ErrorPage(.parameterMalformed, detail: detail))
    }
    return intercepted.redirect(to: target)
  }

  /// Continues after the decision to permit `request`: shows the consent page, or starts the transaction.
  private func begin(_ permit: AuthorizationPermit, _ request: AuthorizationRequest, isPushed: Bool) async -> Reply {
    intercepted.trail.recordRedirectKind(of: permit.redirectURI)
    // Create the transaction id here, so that the log line has it even if the request is refused below.
    _ = intercepted.ensureTransactionID()
    if let name = permit.overlongParameter {
      // Show a page in place of an error redirect, which may contain the long state.
      intercepted.trail.recordRefusal(.parameterTooLong)
      return .response(intercepted.pages.error(ErrorPage(.parameterTooLong, detail: "`\(name)` is too long")))
    }
    // Before the consent page: the user should not approve a sign-in that cannot begin.
    if permit.needsConsent, !TransactionStart.fits(permit, intercepted) {
      return .response(intercepted.refusal(.tooLong, for: permit))
    }
    if permit.needsConsent, !remembersConsent(to: permit, request) {
      return .response(ConsentEndpoint(intercepted).page(for: permit, request, session, isPushed: isPushed))
    }
    return await forward(permit)
  }

  /// Returns true if the user has approved this request before in this browser, and the gateway may remember it.
  private func remembersConsent(to permit: AuthorizationPermit, _ request: AuthorizationRequest) -> Bool {
    guard permit.client.consentRemembered > 0, ConsentSubject.maySkipPage(request.parameters),
      let consents = session?.consents, !consents.isEmpty,
      let subject = ConsentSubject(permit, intercepted.gateway.snapshot.cookie, intercepted.policy),
      consents.contain(subject, now: intercepted.now)
    else { return false }
    intercepted.trail.findings.append(Finding.Note.consentRemembered.rawValue)
    return true
  }

  /// Handles a request that refers to a pushed request. Only `client_id` and `request_uri` of the referring request are
  /// used (RFC 9126, section 4). The pushed request is decided again, for this browser and the current policy.
  ///
  /// Returns `nil` for an observed request whose `request_uri` is refused or unknown, because the upstream may have
  /// issued that `request_uri`.
  private func beginWithPushedRequest(_ outcome: DecisionWithFindings<PushedReference>) async -> Reply? {
    let isObserved = isObserved
    if isObserved, outcome.permit == nil { return nil }
    intercepted.trail.record(outcome)
    guard let reference = outcome.permit else {
      return .response(intercepted.respond(with: outcome.refusal ?? .withoutRedirect(.pushedRequestUnknown)))
    }
    let requests = intercepted.gateway.pushedRequests
    do throws(StoreError) {
      guard let stored = try await requests.find(reference, now: intercepted.now), stored.isOpen(to: session) else {
        if isObserved { return nil }
        return .response(intercepted.respond(with: .withoutRedirect(.pushedRequestUnknown)))
      }
      // A repetition begins a transaction of its own.
      if stored.browserHash == nil { intercepted.trail.transaction = stored.transaction }
      let pushed = AuthorizationRequest(method: "GET", query: Substring(stored.query), userAgent: request.userAgent)
      let outcome = Enforcement.decideAuthorization(
        pushed, policy: intercepted.policy, stateIsSealed: false, isPushed: true, unlisted: unlisted(pushed))
      intercepted.trail.record(outcome)
      guard let permit = outcome.permit else {
        return .response(intercepted.respond(with: outcome.refusal ?? .withoutRedirect(.pushedRequestUnknown)))
      }
      if let response = respondToCrossSiteForm() { return .response(response) }
      // A program that only looks at the link, such as the preview of a messenger, begins no sign-in.
      if intercepted.request.method == "HEAD" {
        return .response(Response(status: 200, headers: ["Cache-Control": "no-store"]))
      }
      var endpoint = self
      let session = BrowserSession.continuing(
        session, permit, until: intercepted.now + AuthorizationEndpoint.transactionLifetime, now: intercepted.now,
        intercepted.gateway.random)
      endpoint.session = session
      // Bind the stored request only after the decision, so that a refusal does not use up the reference.
      if stored.browserHash == nil {
        guard try await requests.bind(reference, stored, to: session, now: intercepted.now) else {
          return .response(intercepted.respond(with: .withoutRedirect(.pushedRequestUnknown)))
        }
      }
      return await endpoint.begin(permit, pushed, isPushed: true)
    } catch {
      return .response(intercepted.respond(with: .withoutRedirect(.storeUnavailable)))
    }
  }

  /// Starts a transaction and sends its authorization request to the upstream (`I-request`).
  private func forward(_ permit: AuthorizationPermit) async -> Reply {
    let start: TransactionStart
    do throws(StoreError) {
      start = try await TransactionStart(
        permit, session, intercepted, id: intercepted.ensureTransactionID(), path: intercepted.authorizationPath)
    } catch {
      return .response(intercepted.refusal(error, for: permit))
    }
    let outbound = OutboundRequest(
      method: intercepted.request.method == "HEAD" ? "HEAD" : "GET", target: start.target,
      headers: intercepted.forwardedHeaders(), peer: intercepted.request.peer)
    let answer: UpstreamResponse
    do throws(UpstreamFailure) {
      answer = try await intercepted.upstream.send(outbound)
    } catch {
      return .response(intercepted.respond(with: permit.errorResponse(for: intercepted.rejection(for: error))))
    }
    intercepted.trail.upstreamStatus = answer.head.status
    if answer.head.status >= 500 {
      let rejection: Rejection = answer.head.status == 503 ? .upstreamUnavailable : .upstreamFailed
      return .response(intercepted.respond(with: permit.errorResponse(for: rejection)))
    }
    intercepted.trail.step = .login
    if (200..<300).contains(answer.head.status), intercepted.request.method != "HEAD" {
      return .response(await redirectToUpstreamRequest(start, answer))
    }
    let running = RunningTransaction(transaction: start.transaction, state: start.state, isNew: true)
    return await ResponseCompleter(intercepted, session: start.session, running)
      .relay(answer, addingCookie: start.cookie)
  }

  /// Discards the upstream's login page in `answer`, and redirects the browser to the URL of the request that the
  /// gateway sent upstream. The browser loads the page again from this URL, which contains the sealed state. A form
  /// that posts to the URL of its page then sends the state too, so the post belongs to the transaction.
  private func redirectToUpstreamRequest(_ start: TransactionStart, _ answer: UpstreamResponse) async -> Response {
    var response = intercepted.redirect(to: start.target)
    for cookie in intercepted.cookies(of: answer.head) { response.headers.append("Set-Cookie", cookie) }
    response.headers.append("Set-Cookie", start.cookie)
    _ = try? await answer.collect()
    return response
  }

  // MARK: In a transaction

  /// Handles a request of an upstream login or consent page that contains the sealed state (`I-reentry`).
  private func reenter(_ transaction: AuthorizationTransaction, state: String) async -> Reply {
    intercepted.trail.transaction = transaction.id
    intercepted.useDocument(in: transaction.binding.client)
    intercepted.recordClient(of: transaction)
    intercepted.trail.recordRedirectKind(of: transaction.redirectURI)
    let browserMatches = session?.isBound(to: transaction.browserSecretHash) ?? false
    let outcome = Enforcement.decideReentry(
      request, sealedState: state, transaction: transaction, browserMatches: browserMatches, policy: intercepted.policy,
      now: intercepted.now, unlisted: intercepted.unlistedClient(of: transaction))
    intercepted.trail.record(outcome)
    switch outcome.decision {
    case .reject(let refusal): return .response(intercepted.respond(with: refusal, transaction: transaction))
    // Not reached: requests with a sealed state are always enforced.
    case .pass: return .response(intercepted.respond(with: .withoutRedirect(.reentryChanged), transaction: transaction))
    case .forward(let permit):
      intercepted.upstream.preferredAddress = transaction.binding.client.upstreamAddress
      return await relay(reentry: permit, state: state)
    }
  }

  /// Handles a POST without OAuth parameters, such as the form of an upstream page.
  private func handleForm() async -> Reply {
    let hasRunningTransaction = session.map { $0.latestTransactionExpiry > intercepted.now } ?? false
    if hasRunningTransaction, let session,
      let refusal = Enforcement.decideInteraction(
        userAgent: request.userAgent ?? "", userAgentGuard: session.userAgentGuard)
    {
      return .response(intercepted.respond(with: refusal))
    }
    switch Enforcement.decideForm(request, hasRunningTransaction: hasRunningTransaction, policy: intercepted.policy) {
    case .reject(let refusal): return .response(intercepted.respond(with: refusal))
    case .forward: return await relay(reentry: nil, state: nil)
    case .pass:
      intercepted.trail.recordWouldReject(.formWithoutTransaction)
      return await observe()
    }
  }

  /// Forwards a request of an upstream page, and returns the upstream's response.
  ///
  /// - Parameters:
  ///   - permit: The permission to forward a re-entry; `nil` for a form that names no transaction.
  ///   - state: The sealed state in the re-entry; `nil` for such a form.
  private func relay(reentry permit: ReentryPermit?, state: String?) async -> Reply {
    let transaction = permit?.transaction
    let answer: UpstreamResponse
    do throws(UpstreamFailure) {
      answer = try await intercepted.upstream.send(intercepted.forwardedRequest())
    } catch {
      let rejection = intercepted.rejection(for: error)
      return .response(
        intercepted.respond(
          with: permit?.errorResponse(for: rejection) ?? .withoutRedirect(rejection), transaction: transaction))
    }
    intercepted.trail.upstreamStatus = answer.head.status
    if transaction != nil { intercepted.trail.step = .login }
    let running = transaction.map { RunningTransaction(transaction: $0, state: state, isNew: false) }
    return await ResponseCompleter(intercepted, session: session, running).relay(answer, addingCookie: nil)
  }

  /// Passes a login or consent form of the upstream that continues an observed sign-in; `nil` for any other request.
  ///
  /// The form has the parameters of the authorization request, whose findings are already in the log. With
  /// `mode: enforce`, it would have the sealed state and be a re-entry.
  private func observeForm() async -> Reply? {
    guard intercepted.request.method == "POST", intercepted.policy.isObserving, isObserved else { return nil }
    let client = request.clientID.flatMap { intercepted.client(ClientID($0)) }
    guard let link = ObservedFlow.linkDigest(ofForm: request, client: client),
      intercepted.gateway.resources.observedFlows.isKnown(link)
    else { return nil }
    intercepted.trail.step = .login
    intercepted.trail.details = RequestDetails()
    intercepted.trail.details?.flow = link.description
    return await pass()
  }

  /// Records an observed request and passes it to the upstream.
  private func observe() async -> Reply {
    intercepted.recordObserved(request)
    return await pass()
  }

  private func pass() async -> Reply {
    let reply = await intercepted.observe(request.parameterSources, from: request.clientID) {
      intercepted.respond(with: $0)
    }
    intercepted.recordAcceptance(of: request, by: reply)
    return reply
  }
}

extension AuthorizationPermit {
  /// The maximum length of a client's state, in bytes. The client's state is a part of the sealed state in the upstream
  /// request, and a parameter of the redirect to the client. Few servers accept URLs of more than 8 KiB. If the
  /// upstream accepts only short states, the store keeps the client's state, as a part of the sealed transaction.
  private static let maximumStateLength = 2048
  /// The maximum length of a scope, in bytes. The scope is a part of the sealed state, too. Some legacy servers define
  /// hundreds of scope values.
  private static let maximumScopeLength = 4096

  /// The name of the parameter, `state` or `scope`, that is too long; `nil` if neither is.
  public var overlongParameter: String? {
    if state?.utf8.count ?? 0 > AuthorizationPermit.maximumStateLength { return "state" }
    if scope?.text.utf8.count ?? 0 > AuthorizationPermit.maximumScopeLength { return "scope" }
    return nil
  }
}
