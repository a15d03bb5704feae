internal import ByteText
import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Sealing
import Stores
import Telemetry
import Time

/// Creates the responses of the endpoints that browsers call: authorization responses, redirects and refusals. An
/// authorization response of the upstream is also decided here, and its code is sealed (encrypted and authenticated).
extension InterceptedRequest {
  /// Returns the redirect or the self-submitting form that sends an authorization response to its client (RFC 6749,
  /// sections 4.1.2 and 4.1.2.1).
  func deliver(_ answer: AuthorizationResponse, to client: Client?) -> Response {
    guard let location = answer.location else {
      return pages.formPost(
        redirectURI: answer.redirectURI.text, parameters: answer.parameters.map { (name: $0.name, value: $0.value) },
        clientName: pages.name(of: client))
    }
    return redirect(to: location)
  }

  /// Returns a redirect of the gateway. After a POST its status is 303, so that the browser does not repeat the POST at
  /// the new location (RFC 9700, section 4.12).
  func redirect(to location: String) -> Response {
    // Room for these fields, the id of the request and the cookies.
    var headers = Headers(capacity: 8)
    headers.append("Location", location)
    headers.append("Cache-Control", "no-store")
    headers.append("Pragma", "no-cache")
    headers.append("Referrer-Policy", "no-referrer")
    return Response(status: request.method == "POST" ? 303 : 302, headers: headers)
  }

  /// Records a refusal and returns the response for the browser. If the redirect URI has been verified and the
  /// rejection may redirect, the response sends the error to the client. For a client that the operator does not trust,
  /// it is a page with a link that sends the error to the client. In all other cases, the response is an error page.
  ///
  /// - Parameter transaction: The transaction to which the request belongs; `nil` if it is unknown.
  func respond(with refusal: RejectionResponse, transaction: AuthorizationTransaction? = nil) -> Response {
    trail.recordRefusal(refusal.rejection)
    if let transaction { trail.transaction = transaction.id }
    if case .differingByte(let registeredIndex, let offset) = refusal.detail {
      trail.findings.append("redirect-uri-differs:\(registeredIndex + 1):\(offset + 1)")
    }
    let client = transaction.flatMap { self.client(of: $0) }
    switch refusal.delivery {
    case .redirect:
      if let answer = refusal.response(request: trail.requestID) { return deliver(answer, to: client) }
    case .pageWithLink:
      if let location = refusal.response(request: trail.requestID)?.location {
        return pages.openApp(location: location, clientName: pages.name(of: client))
      }
    case .withoutRedirect: break
    }
    let page = ErrorPage(
      refusal.rejection, detail: refusal.detail.map(explanation) ?? refusal.errorDescription,
      transaction: transaction?.id)
    switch refusal.rejection {
    case .browserMismatch, .transactionExpired, .transactionNoLongerValid, .formWithoutTransaction:
      return pages.startAgain(path: transaction.flatMap(restartPath), page)
    case .userAgentEmbedded:
      return pages.embeddedUserAgent(address: policy.gateway.origin.description + request.target, page)
    case .methodNotAllowed:
      var response = pages.error(page)
      response.headers.set("Allow", "GET, HEAD, POST")
      return response
    default:
      return pages.error(page)
    }
  }

  private func explanation(_ detail: Detail) -> String {
    switch detail {
    case .parameter(let name): "the parameter is `\(name)`"
    case .redirectURI(let error): error.description
    // Any program can send such a request. If the page said where the requested URI differs from a registered one, the
    // program could find the registered URI byte by byte. Only the decision log contains this position.
    case .differingByte: "redirect_uri is not one of the registered URIs"
    case .completionPath(let path):
      "\(path.map { "`\($0)`" } ?? "the path of this request") is not in `upstream.completion_paths`"
    case .localhost:
      "redirect_uri is not one of the registered URIs; localhost and 127.0.0.1 are different hosts, so send the one "
        + "that is registered"
    }
  }

  /// Returns the path of a link with which the user begins the sign-in again. The link contains the authorization
  /// request that the client would send. Returns `nil` if the client must push its requests, is a registered one, whose id
  /// the state does not contain, or has sent a parameter such as `nonce`, which the state does not contain either: then
  /// only the client can begin the sign-in.
  ///
  /// The link contains the request only in sealed form, because the page must not reveal the client's `state` and code
  /// challenge. A person who reads the sealed `state` in the upstream's logs and sends it to the gateway gets the
  /// page with the link, too.
  private func restartPath(_ transaction: AuthorizationTransaction) -> String? {
    guard !transaction.isDeviceFlow, !transaction.hasFurtherParameters, transaction.clientID.digest == nil,
      client(of: transaction)?.pushedAuthorization != .required
    else { return nil }
    var entries = [
      FormParameters.Entry(.responseType, "code"),
      FormParameters.Entry(.clientID, transaction.clientID.rawValue),
    ]
    if transaction.redirectURIWasSent {
      entries.append(FormParameters.Entry(.redirectURI, transaction.redirectURI.text))
    }
    if let scope = transaction.scope { entries.append(FormParameters.Entry(.scope, scope.text)) }
    if let resource = transaction.resource { entries.append(FormParameters.Entry(.resource, resource)) }
    if let state = transaction.state { entries.append(FormParameters.Entry(.state, state)) }
    if let challenge = transaction.challenge {
      entries.append(FormParameters.Entry(.codeChallenge, challenge.text))
      entries.append(FormParameters.Entry(.codeChallengeMethod, challenge.method.rawValue))
    }
    if transaction.responseMode != .query {
      entries.append(FormParameters.Entry(.responseMode, transaction.responseMode.rawValue))
    }
    let ticket = StartTicket(
      path: authorizationPath, query: FormEncoding.serialise(entries),
      expiry: now + AuthorizationEndpoint.transactionLifetime)
    return StartEndpoint.path(withTicket: gateway.sealer.seal(ticket))
  }

  /// The path of the authorization endpoint for this sign-in. This is the path of the request or, if the user restarts
  /// a sign-in by a link of the gateway, the path of the original request. If the policy does not list this path, the
  /// first authorization endpoint in the policy replaces it.
  var authorizationPath: String {
    let paths = policy.upstream.endpoints.authorization
    let path = originalAuthorizationPath ?? String(request.path)
    return paths.contains(path) ? path : paths.first ?? "/"
  }

  /// Returns the rejection for a failure of the upstream.
  func rejection(for failure: UpstreamFailure) -> Rejection {
    switch failure.status {
    case 503: .upstreamUnavailable
    case 504: .upstreamTimedOut
    default: .upstreamFailed
    }
  }

  /// Returns the response to an authorization request whose transaction cannot begin, because the store reported
  /// `error`.
  func refusal(_ error: StoreError, for permit: AuthorizationPermit) -> Response {
    switch error {
    case .full, .unavailable: return respond(with: permit.errorResponse(for: .storeUnavailable))
    case .tooLong:
      // Show a page, because an error redirect would contain the long state.
      trail.recordRefusal(.parameterTooLong)
      return pages.error(
        ErrorPage(.parameterTooLong, detail: "`state` and `scope` are longer than this server's `state_limit` allows"))
    }
  }

  // MARK: Responses of the upstream

  /// True if the response to this request would make the browser repeat a POST, which may contain the user's password,
  /// on another origin (RFC 9700, section 4.12).
  func repeatsPostOnOtherOrigin(_ response: Response) -> Bool {
    gateway.snapshot.locations.repeatsPostOnOtherOrigin(
      response.headers["Location"] ?? "", status: response.status, isPost: request.method == "POST")
  }

  /// Changes the status of a response that would make the browser repeat a POST on another origin to 303, and records a
  /// finding. With 303, the browser sends a GET (RFC 9110, section 15.4.4).
  ///
  /// - Parameter changesStatus: False to record only the finding.
  func replaceRepeatedPost(in response: inout Response, changesStatus: Bool = true) {
    guard repeatsPostOnOtherOrigin(response) else { return }
    trail.findings.append("post-to-other-origin")
    guard changesStatus else { return }
    response.status = 303
    // The upstream's reason phrase belongs to the old status.
    response.reason = nil
  }

  /// Converts a location that begins with exactly one slash to a URL on the gateway's origin, as browsers do. Returns
  /// any other location unchanged.
  func absolute(_ location: String) -> String {
    guard location.utf8.starts(with: "/".utf8), !location.utf8.starts(with: "//".utf8) else { return location }
    return policy.gateway.origin.description + location
  }

  /// Returns true if the location is a redirect URI of a listed observed client, or the response to an observed
  /// authorization request that this browser has sent and the upstream has accepted. The request of another browser, and a
  /// request that the upstream has refused, permit nothing: any program can send them.
  func leadsToObservedClient(_ location: String) -> Bool {
    guard policy.isObserving else { return false }
    if gateway.snapshot.locations.isObservedRedirectURI(location) { return true }
    guard let session = session(), let authorizationResponse = UpstreamAuthorizationResponse(location: location),
      let digests = ObservedFlow.digests(of: authorizationResponse)
    else {
      return false
    }
    // The digest `link` is computed from the state and the redirect URI, which the request and its response share.
    return gateway.resources.observedFlows.isAccepted(digests.link, from: session.hash)
  }

  /// Records that the upstream has accepted an observed authorization request, unless its response is an error: a status
  /// from 400 on, or a redirect with the parameter `error`.
  ///
  /// Only a browser with the gateway's cookie can have a sign-in of an enforced client, so only its requests are recorded.
  func recordAcceptance(of request: AuthorizationRequest, by reply: Reply) {
    guard case .relay(let answer, _) = reply, answer.head.status < 400, let session = session(),
      !answer.head.headers.all("Location").contains(where: isErrorResponse),
      let link = ObservedFlow.linkDigest(of: request, client: request.clientID.flatMap { client(ClientID($0)) })
    else { return }
    gateway.resources.observedFlows.recordAcceptance(link, from: session.hash)
  }

  private func isErrorResponse(_ location: String) -> Bool {
    UpstreamAuthorizationResponse(location: location)?.parameters.contains(.error) ?? true
  }

  /// Returns the upstream's `Set-Cookie` values for the browser, without the gateway's own cookie
  /// (`UpstreamPageHeaders.cookie(_:for:)`).
  func cookies(of response: Response) -> [String] {
    let fields = response.headers.all("Set-Cookie")
    guard !fields.isEmpty else { return [] }
    let own = gateway.snapshot.cookie.name.utf8
    var hasForeignDomain = false
    defer { if hasForeignDomain { trail.findings.append(ResponseFinding.foreignCookieDomain.rawValue) } }
    return fields.compactMap { field in
      let name = field.utf8.prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") }
        .filter { !$0.isBlank }
      guard !name.elementsEqual(own, by: { $0.lowercasedASCII == $1.lowercasedASCII }) else { return nil }
      let cookie = UpstreamPageHeaders.cookie(field, for: policy.gateway.origin)
      if cookie.hasForeignDomain { hasForeignDomain = true }
      return cookie.value
    }
  }

  /// True if another site posted the request as a form, and the cookie of the gateway is missing. Browsers do not
  /// attach a `SameSite=Lax` cookie to such a form post. If a federated sign-in ends with a form post from another
  /// site, the operator has to set `upstream.cross_site_login`.
  var isCrossSitePost: Bool {
    request.method == "POST" && request.headers["Sec-Fetch-Site"] == "cross-site" && !hasOwnCookie
  }

  /// True if the request has a cookie with the name of the gateway's.
  var hasOwnCookie: Bool {
    request.headers.all("Cookie").contains { $0.utf8.span.contains(gateway.snapshot.cookie.name + "=") }
  }

  /// Completes or refuses an authorization response of the upstream. Returns the response for the browser.
  func completeOrRefuse(
    _ authorizationResponse: UpstreamAuthorizationResponse, _ transaction: AuthorizationTransaction,
    browserMatches: Bool
  ) async -> Response {
    trail.transaction = transaction.id
    useDocument(in: transaction.binding.client)
    recordClient(of: transaction)
    trail.recordRedirectKind(of: transaction.redirectURI)
    var transaction = transaction
    // The code is redeemed at the address that issued it.
    if let address = upstream.answeringAddress { transaction.binding.client.upstreamAddress = address }
    let facts = CompletionFacts(
      browserMatches: browserMatches,
      requestTexts: ReflectedCodeScanner(
        target: request.target, fields: request.headers.fields.map { $0.value }, body: request.body),
      epoch: gateway.resources.store.epoch, network: guessNetwork, now: now)
    let outcome = Enforcement.decideCompletion(
      authorizationResponse, transaction: transaction, facts: facts, policy: policy,
      unlisted: unlistedClient(of: transaction))
    trail.record(outcome)
    switch outcome.decision {
    case .forward(let permit): return await deliver(permit)
    case .reject(let refusal):
      if refusal.rejection == .browserMismatch, isCrossSitePost { trail.findings.append("cross-site-post") }
      if transaction.isDeviceFlow, refusal.rejection == .upstreamDenied {
        return await DeviceVerificationEndpoint(self).endFlow(of: transaction)
      }
      return self.respond(with: refusal, transaction: transaction)
    case .pass: return self.respond(with: .withoutRedirect(.upstreamResponseUnusable), transaction: transaction)
    }
  }

  /// Records that the upstream's code belongs to the transaction, and returns the response with the sealed code.
  /// Refuses a code that belongs to another transaction, and each code after too many that the upstream refused. If the store is full or unavailable, the client gets an error
  /// response, because another transaction could otherwise use the same code.
  private func deliver(_ permit: CompletionPermit) async -> Response {
    let transaction = permit.transaction
    if let throttled = throttledSignIn(from: permit.code.origin) { return throttled }
    do throws(StoreError) {
      let isClaimed = try await gateway.resources.codes.claim(
        permit.code.digest, for: transaction.id, holder: storeHolder(for: permit.client),
        lifetime: policy.upstream.codeLifetime, now: now)
      guard isClaimed else { return respond(with: .withoutRedirect(.codeFromOtherSignIn), transaction: transaction) }
      recordDocumentSignIn(of: permit.client)
      // The response of a device flow leads to no client: the user has to confirm the request first.
      if transaction.isDeviceFlow { return try await DeviceVerificationEndpoint(self).confirmation(of: permit) }
      trail.step = .code
      return deliver(permit.response(code: gateway.sealer.seal(permit.code)), to: permit.client)
    } catch {
      return respond(with: permit.errorResponse(for: .storeUnavailable), transaction: transaction)
    }
  }
}
