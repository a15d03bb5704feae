import Cryptography
import Enforcement
import HTTP
import OAuth
import Policy
import Reactor
import Sealing
import Stores
import Time

/// The pages on which a user enters the code of a device, and confirms the request after the sign-in (RFC 8628, section
/// 3.3).
///
/// The code binds the flow to the browser that enters it. Then the user signs in at the upstream, by a transaction whose
/// id is that of the flow. Its completion leads to the confirmation page, and only the form of that page approves.
struct DeviceVerificationEndpoint {
  /// The time that a user has to type the code.
  private static let entryLifetime: Seconds = 1_800

  private let intercepted: InterceptedRequest

  init(_ intercepted: InterceptedRequest) {
    self.intercepted = intercepted
  }

  private var flows: DeviceFlows { intercepted.gateway.deviceFlows }
  private var now: UnixTime { intercepted.now }

  func respond() async -> Response {
    switch intercepted.request.method {
    case "GET", "HEAD": return entryPage()
    case "POST":
      do throws(StoreError) {
        return try await handleForm()
      } catch {
        return refuse(.storeUnavailable)
      }
    default: return intercepted.respond(with: .withoutRedirect(.methodNotAllowed))
    }
  }

  // MARK: The code

  /// Returns the page with the form for the code. It reads nothing from the store, so an address with a code reveals and
  /// changes nothing.
  ///
  /// - Parameter rejection: The reason why the last code was refused; `nil` for the first page.
  private func entryPage(after rejection: Rejection? = nil) -> Response {
    let session =
      intercepted.session()
      ?? BrowserSession(
        latestTransactionExpiry: now, userAgentGuard: EmbeddedUserAgentGuard(), intercepted.gateway.random)
    let token = DeviceEntryToken(
      browserHash: session.hash, expiry: now + DeviceVerificationEndpoint.entryLifetime)
    let text = FormParameters(parsing: intercepted.request.query ?? "")?[named: DevicePage.Field.userCode]
    let acceptsCode = intercepted.policy.clients.values.contains { $0.deviceCompleteURI }
    var response = intercepted.pages.deviceEntry(
      action: GatewaySettings.devicePath, token: intercepted.gateway.sealer.seal(token),
      codeToCompare: acceptsCode ? text.flatMap { UserCode(typed: $0) } : nil, rejection: rejection)
    response.headers.append(
      "Set-Cookie", intercepted.gateway.snapshot.cookie.setCookieValue(for: session, intercepted.gateway.sealer))
    return response
  }

  private func handleForm() async throws(StoreError) -> Response {
    let request = intercepted.request
    let isForm = FormContent.isForm(
      types: request.headers.all("Content-Type"), encodings: request.headers.all("Content-Encoding"))
    guard isForm, isSameOrigin, let form = FormParameters(parsing: request.body), let session = intercepted.session(),
      let token = form[named: DevicePage.Field.token]
    else { return refuse(.deviceFormForged, .unknown) }
    intercepted.chargeWork()
    let sealer = intercepted.gateway.sealer
    if let approval = try? sealer.open(DeviceApprovalToken.self, from: token) {
      guard session.isBound(to: approval.browserHash) else { return refuse(.deviceFormForged, .unknown) }
      return try await decide(
        approval.code, isApproved: form[named: DevicePage.Field.decision] == DevicePage.Field.approve)
    }
    guard let entry = try? sealer.open(DeviceEntryToken.self, from: token), session.isBound(to: entry.browserHash),
      now < entry.expiry
    else { return refuse(.deviceFormForged, .unknown) }
    return try await enter(
      form[named: DevicePage.Field.userCode] ?? "", session,
      isDenied: form[named: DevicePage.Field.decision] == DevicePage.Field.deny)
  }

  /// True if a page on the gateway's origin posted the form. A browser that sends neither `Sec-Fetch-Site` nor `Origin`
  /// is trusted only if it does not attach the gateway's cookie to form posts from other sites.
  private var isSameOrigin: Bool {
    let headers = intercepted.request.headers
    if let site = headers["Sec-Fetch-Site"] { return site == "same-origin" }
    if let origin = headers["Origin"] { return origin == intercepted.policy.gateway.origin.description }
    return !intercepted.gateway.snapshot.cookie.isCrossSite
  }

  /// Binds the flow of a code to this browser, and begins the sign-in.
  private func enter(_ text: String, _ session: BrowserSession, isDenied: Bool) async throws(StoreError) -> Response {
    guard let code = UserCode(typed: text) else {
      intercepted.trail.recordRefusal(.userCodeUnknown)
      return entryPage(after: .userCodeUnknown)
    }
    // RFC 8628, section 5.1.
    let attempt = intercepted.gateway.resources.userCodeGuesses.attempt(
      from: SignInOrigin(browserSecretHash: session.hash, network: intercepted.guessNetwork))
    if let wait = attempt.begin() { return intercepted.tooManyGuesses(.userCodeAttempts, retryAfter: wait) }
    guard let entry = try await flows.find(code, now: now) else {
      intercepted.trail.recordRefusal(.userCodeUnknown)
      return entryPage(after: .userCodeUnknown)
    }
    attempt.giveBack()
    intercepted.trail.transaction = entry.id
    intercepted.recordClient(id: entry.flow.clientID.rawValue)
    let hash = session.hash
    let update = try await flows.update(entry.id, now: now) { flow in
      guard case .pending = flow.state else { return nil }
      var bound = flow
      bound.state = .bound(browserHash: hash)
      return bound
    }
    guard let flow = update?.after ?? update?.before, case .bound(let owner) = flow.state else {
      return refuseDecided(update?.before)
    }
    guard constantTimeEqual(owner, hash) else { return refuse(.userCodeInUse) }
    if isDenied { return try await end(entry.id) }
    return await signIn(for: flow, entry.id, session)
  }

  /// Begins the transaction by which the user signs in at the upstream.
  private func signIn(for flow: DeviceFlow, _ id: TransactionID, _ session: BrowserSession) async -> Response {
    guard let permit = Enforcement.permitSignIn(for: flow, policy: intercepted.policy) else {
      return refuse(.grantNotAllowed)
    }
    do throws(StoreError) {
      let start = try await TransactionStart(
        permit, session, intercepted, id: id, path: intercepted.authorizationPath)
      var response = intercepted.redirect(to: start.target)
      response.headers.append("Set-Cookie", start.cookie)
      return response
    } catch {
      return intercepted.refusal(error, for: permit)
    }
  }

  // MARK: The decision

  /// Returns the page that asks the user to confirm the device after the sign-in. Until its form is sent, nothing is
  /// stored or redeemed.
  func confirmation(of permit: CompletionPermit) async throws(StoreError) -> Response {
    let id = permit.transaction.id
    let hash = permit.transaction.browserSecretHash
    let found = try await flows.find(id, now: now)?.flow
    guard let flow = found, now < flow.expiry, case .bound(let owner) = flow.state, constantTimeEqual(owner, hash)
    else { return refuseDecided(found) }
    var code = permit.code
    code.expiry = flow.expiry
    let token = intercepted.gateway.sealer.seal(DeviceApprovalToken(browserHash: hash, code: code))
    return intercepted.pages.deviceConfirmation(
      DevicePage(
        clientName: intercepted.pages.name(of: permit.client), clientID: permit.client.id.rawValue,
        userCode: flow.userCode,
        scopes: permit.upstreamScope(intercepted.policy).map { $0.text.split(separator: " ").map(String.init) } ?? [],
        resource: flow.resource.map {
          ConsentPage.Resource(name: intercepted.policy.resources[$0]?.name, identifier: $0)
        }, network: flow.network,
        age: now - flow.start, action: GatewaySettings.devicePath, token: token))
  }

  /// Carries out the user's decision on the confirmation page.
  private func decide(_ code: IssuedCode, isApproved: Bool) async throws(StoreError) -> Response {
    let id = code.transactionID
    intercepted.trail.transaction = id
    intercepted.recordClient(id: code.clientID.rawValue)
    guard now < code.expiry, let client = intercepted.policy.clients[code.clientID] else {
      return refuseDecided(try await flows.find(id, now: now)?.flow)
    }
    guard isApproved else { return try await end(id) }
    let digest = code.digest.bytes
    // The store has the code before the device can see the approval.
    let holder = intercepted.storeHolder(for: client)
    let isStored = try await flows.storeAnswer(code, of: id, holder: holder, now: now)
    var isSecondSignIn = false
    if !isStored { isSecondSignIn = try await flows.answer(of: id, now: now)?.digest != code.digest }
    let update = try await flows.update(id, now: now) { flow in
      var changed = flow
      switch flow.state {
      case .bound where !isSecondSignIn: changed.state = .approved(codeDigest: digest)
      case .bound: changed.state = .ended
      case .approved(let other) where other != digest: changed.state = .ended
      case .approved, .pending, .ended, .redeemed: return nil
      }
      return changed
    }
    guard let flow = update?.after else {
      // The flow was decided before. The answer of an approved flow stays.
      if case .approved = update?.before.state { return refuseDecided(update?.before) }
      try await flows.removeAnswer(of: id, now: now)
      return refuseDecided(update?.before)
    }
    try await flows.removeCode(of: flow, now: now)
    guard case .approved = flow.state else {
      try await flows.removeAnswer(of: id, now: now)
      return refuseDecided(flow)
    }
    return intercepted.pages.deviceDecided(isApproved: true, clientName: intercepted.pages.name(of: client))
  }

  /// Ends the flow of a transaction, because the user could not sign in at the upstream.
  func endFlow(of transaction: AuthorizationTransaction) async -> Response {
    intercepted.trail.recordRefusal(.upstreamDenied)
    do throws(StoreError) {
      return try await end(transaction.id)
    } catch {
      return refuse(.storeUnavailable)
    }
  }

  /// Ends a flow because the user denied it.
  private func end(_ id: TransactionID) async throws(StoreError) -> Response {
    let update = try await flows.update(id, now: now) { flow in
      var ended = flow
      switch flow.state {
      case .pending, .bound, .approved: ended.state = .ended
      case .ended, .redeemed: return nil
      }
      return ended
    }
    guard let flow = update?.after else { return refuseDecided(update?.before) }
    try await flows.removeCode(of: flow, now: now)
    try await flows.removeAnswer(of: id, now: now)
    intercepted.trail.findings.append("device-denied")
    let name = intercepted.policy.clients[flow.clientID].map(intercepted.pages.name)
    return intercepted.pages.deviceDecided(isApproved: false, clientName: name ?? flow.clientID.rawValue)
  }

  /// Refuses a request because its flow can no longer be decided.
  ///
  /// - Parameter flow: The flow; `nil` if the store has none.
  private func refuseDecided(_ flow: DeviceFlow?) -> Response {
    let outcome: DevicePage.Outcome =
      switch flow?.state {
      case .approved, .redeemed: .approved
      case .pending, .bound, .ended: .notConnected
      case nil: .unknown
      }
    return refuse(.deviceDecided, outcome)
  }

  private func refuse(_ rejection: Rejection, _ outcome: DevicePage.Outcome = .notConnected) -> Response {
    intercepted.trail.recordRefusal(rejection)
    return intercepted.pages.deviceProblem(ErrorPage(rejection, transaction: intercepted.trail.transaction), outcome)
  }
}
