internal import ByteText
import Cryptography
import Enforcement
public import HTTP
public import HTTP1
import OAuth
import PathReading
import Policy
public import Proxy
import Reactor
import Sealing
import Telemetry
import Time

/// The OAuth part of one worker. It decides whether the gateway answers a request itself, refuses it or forwards it,
/// and creates the answers and refusals.
public final class Gateway: RequestHandler {
  let snapshot: GatewaySnapshot
  let resources: GatewayResources
  let sealer: Sealer
  /// Seals and opens the ids of registered clients; `nil` if no client can register.
  let registrations: RegistrationIDs?
  let random = RandomPool()
  let worker: Int
  /// The ids of the requests of this thread. Its space is the index of a worker, or a later number.
  let ids: RequestIDs
  private let metrics: WorkerMetrics
  private(set) var targetMatches: TargetMatches

  /// Creates the gateway of the worker with the index `worker`; the first worker has index 0.
  public convenience init(_ snapshot: GatewaySnapshot, _ resources: GatewayResources, worker: Int) {
    self.init(snapshot, resources, worker: worker, requestSpace: worker)
  }

  /// Creates the gateway of a listener that checks tokens. Its records and counts are among those of the first worker:
  /// both are few, and any thread may add to them.
  ///
  /// - Parameter number: The position of the listener, from 0.
  convenience init(_ snapshot: GatewaySnapshot, _ resources: GatewayResources, check number: Int) {
    self.init(snapshot, resources, worker: 0, requestSpace: resources.metrics.workers.count + number)
  }

  private init(_ snapshot: GatewaySnapshot, _ resources: GatewayResources, worker: Int, requestSpace: Int) {
    ids = RequestIDs(resources.requestIDKey, space: requestSpace)
    self.snapshot = snapshot
    self.resources = resources
    self.worker = worker
    metrics = resources.metrics.workers[worker]
    targetMatches = TargetMatches(random)
    sealer = Sealer(keyRing: snapshot.keyRing, issuer: snapshot.policy.gateway.issuer, random: random)
    registrations = RegistrationIDs(snapshot)
  }

  var policy: Policy { snapshot.policy }
  var pages: Pages { snapshot.pages }
  /// The current time.
  var now: UnixTime { resources.now() }

  var pushedRequests: PushedRequests { PushedRequests(sealer: sealer, store: resources.store) }

  /// Writes transactions into values of `state`, and reads them.
  var states: TransactionStateCodec {
    TransactionStateCodec(sealer: sealer, store: resources.store, limit: policy.upstream.stateLimit)
  }

  // MARK: Routing

  /// Matches the path and query of the request with the endpoints and returns the handling of the request. A request
  /// for another host is refused.
  public func route(_ head: RequestHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, client: ClientFacts) -> Route {
    guard isServed(head, bytes, client) else { return refuseUnknownHost(client, ErrorForm(bytes, fields)) }
    let path = bytes.extracting(head.path)
    let query = bytes.extracting(head.query ?? 0..<0)
    let glance = snapshot.matcher.glance(path: path, query: query)
    guard glance.mayBeExpensive || head.length > ProcessorTime.longHead else {
      return decide(snapshot.matcher.read(path: path, query: query, after: glance), head, bytes, fields, client)
    }
    guard var work = resources.processorTime.begin(for: client.peer) else {
      return .overLimit(.processorTimePerAddress)
    }
    defer { work.charge() }
    let matcher = snapshot.matcher
    let match =
      glance.mayBeExpensive
      ? targetMatches.match(path: path, query: query) { matcher.read(path: $0, query: $1, after: glance) }
      : matcher.read(path: path, query: query, after: glance)
    return decide(match, head, bytes, fields, client)
  }

  private func decide(
    _ match: PathMatch, _ head: RequestHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, _ client: ClientFacts
  ) -> Route {
    if head.hasUnencodedTarget { return routeUnencoded(match, client, ErrorForm(bytes, fields)) }
    switch match {
    case .notEndpoint:
      let limit = snapshot.bodyLimit
      if head.body != .none, ParameterBody(of: head, bytes, fields, formLimit: limit) != nil {
        return permitsBody(head, client) ? .inspect(limit: limit) : .overLimit(.processorTimePerAddress)
      }
      return pass(head, bytes, fields, client)
    // The query has the parameters of an OAuth request, but the path is not an endpoint.
    case .unlisted: return routeUnlisted(head, bytes, fields, client)
    // The path is not under a prefix in `upstream.pass`.
    case .notPassed:
      return refuseOrPass(
        .pathNotPassed, client, ErrorForm(bytes, fields), path: EndpointMatcher.redacted(bytes.extracting(head.path)))
    // Some server may read the path or the query as the path of an endpoint, or there are too many readings to compare.
    case .ambiguous:
      return refuseOrPass(
        isMetadataOfOthers(head, bytes) ? .metadataBypassesGateway : .pathAmbiguous, client, ErrorForm(bytes, fields))
    // The path begins with the path of an endpoint, but is longer. The log gets the entry of `upstream.not_endpoints`
    // that would permit the path.
    case .resembling:
      return refuseOrPass(
        isMetadataOfOthers(head, bytes) ? .metadataBypassesGateway : .pathResemblesEndpoint, client,
        ErrorForm(bytes, fields),
        path: snapshot.matcher.suggestedNotEndpointsEntry(for: bytes.extracting(head.path)))
    case .exact(let endpoint): return route(head, to: endpoint, bytes, fields, client)
    }
  }

  /// Returns false if reading a form in the body may be expensive and the client's address has no processor time left.
  private func permitsBody(_ head: RequestHead, _ client: ClientFacts) -> Bool {
    !ProcessorTime.isLong(head.body) || resources.processorTime.permits(client.peer)
  }

  /// Refuses a request whose target has bytes that must be percent-encoded. If the policy enforces no client, the request
  /// passes, and the refusal is only a finding. The gateway's own pages and an insecure transport are no exceptions from
  /// the rules of those.
  private func routeUnencoded(_ match: PathMatch, _ client: ClientFacts, _ form: ErrorForm) -> Route {
    if case .exact(let endpoint) = match {
      guard isProtected(client) else { return refuseInsecureTransport(client, form) }
      if endpoint.isOwn {
        return withLine(client, form) { refuse(.targetUnencoded, client, form) }
      }
    }
    return refuseOrPass(.targetUnencoded, client, form)
  }

  /// Returns true if the path is that of the metadata of another issuer or resource. Clients try several such paths and
  /// expect 404 if there is no document (RFC 8414, section 3.2).
  private func isMetadataOfOthers(_ head: RequestHead, _ bytes: Span<UInt8>) -> Bool {
    EndpointPaths.isBesideWellKnownPath(bytes.extracting(head.path))
  }

  private func route(
    _ head: RequestHead, to endpoint: Endpoint, _ bytes: Span<UInt8>, _ fields: HeadIndex, _ client: ClientFacts
  ) -> Route {
    let isAnswered: Bool
    switch endpoint.row.handling {
    case .refuse(let rejection): return refuseOrPass(rejection, client, ErrorForm(bytes, fields))
    case .answerInstead(let rejection, _):
      guard policy.isEnforcing else { return refuseOrPass(rejection, client, ErrorForm(bytes, fields)) }
      isAnswered = true
    case .answer: isAnswered = true
    case .answerIf(let condition, _): isAnswered = condition(snapshot)
    }
    guard isProtected(client) else { return refuseInsecureTransport(client, ErrorForm(bytes, fields)) }
    guard isAnswered else { return .pass }
    guard permitsBody(head, client) else { return .overLimit(.processorTimePerAddress) }
    return .intercept(bodyLimit: snapshot.bodyLimit, tag: endpoint.rawValue)
  }

  /// Routes a request with a form or JSON for a path that is not an endpoint. A body with the parameters of an authorization
  /// or token request is an unlisted OAuth request.
  public func routeForm(
    _ head: RequestHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, client: ClientFacts, body: Span<UInt8>
  ) -> Route {
    guard body.count > ProcessorTime.longForm else { return decideForm(head, bytes, fields, client, body) }
    // The address may have used its time while the body arrived.
    guard var work = resources.processorTime.begin(for: client.peer) else {
      return .overLimit(.processorTimePerAddress)
    }
    defer { work.charge() }
    return decideForm(head, bytes, fields, client, body)
  }

  /// Charges the address of a client for the decoding of chunks.
  public func chargeDecoding(_ time: Nanoseconds, to client: Peer) {
    resources.processorTime.charge(time, to: client)
  }

  private func decideForm(
    _ head: RequestHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, _ client: ClientFacts, _ body: Span<UInt8>
  ) -> Route {
    var names = OAuthNames(form: bytes.extracting(head.query ?? 0..<0))
    if let type = ParameterBody(of: head, bytes, fields, formLimit: snapshot.bodyLimit) {
      names.formUnion(type.names(in: body))
    }
    guard names.indicateOAuthRequest else { return pass(head, bytes, fields, client) }
    return snapshot.matcher.isAuthorization(at: bytes.extracting(head.path), names)
      ? route(head, to: .authorization, bytes, fields, client) : routeUnlisted(head, bytes, fields, client)
  }

  /// Routes a request that the checks of its path and of its form do not refuse.
  private func pass(_ head: RequestHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, _ client: ClientFacts) -> Route {
    policy.blocksEmbeddedUserAgents ? routeDuringTransaction(head, bytes, fields, client) : .pass
  }

  /// Routes an authorization or token request for a path that the policy does not list. Such a path may be an alias of
  /// an endpoint, and no rule would run for it.
  private func routeUnlisted(
    _ head: RequestHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, _ client: ClientFacts
  ) -> Route {
    let path = EndpointMatcher.redacted(bytes.extracting(head.path))
    if policy.isEnforcing, policy.unlistedOAuth == .reject {
      return refuseOrPass(.unlistedOAuth, client, ErrorForm(bytes, fields), path: path)
    }
    let route = pass(head, bytes, fields, client)
    guard case .pass = route else { return route }
    return withLine(client, ErrorForm(bytes, fields)) { observe(.unlistedOAuth, client, path: path) }
  }

  /// Routes a request for a path that is not an endpoint, such as a login page of the upstream. If the browser has a
  /// running transaction of a client that blocks embedded user agents, a request of an embedded user agent is refused
  /// here, too (RFC 8252, section 8.12).
  private func routeDuringTransaction(
    _ head: RequestHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, _ client: ClientFacts
  ) -> Route {
    guard let session = session(bytes, fields), session.latestTransactionExpiry > now else { return .pass }
    var userAgent = ""
    for field in fields where HeadIndex.equalIgnoringCase(bytes, field.name, "user-agent") {
      userAgent = Gateway.text(bytes, field.value)
    }
    guard
      let refusal = Enforcement.decideInteraction(userAgent: userAgent, userAgentGuard: session.userAgentGuard)
    else { return .pass }
    // No address to copy: this sign-in cannot continue in another browser.
    let languages = ErrorForm.languages(bytes, fields)
    return withLine(client, .page(languages: languages)) {
      refuse(refusal.rejection, client, .page(languages: languages)) {
        $0.preferring(languages).embeddedUserAgent(address: nil, $1)
      }
    }
  }

  /// Returns the content of the gateway's cookie; `nil` if the request has none.
  private func session(_ bytes: Span<UInt8>, _ fields: HeadIndex) -> BrowserSession? {
    guard fields.has(.cookie) else { return nil }
    var cookies: [String] = []
    for field in fields where field.known == .cookie { cookies.append(Gateway.text(bytes, field.value)) }
    return snapshot.cookie.session(in: cookies, sealer)
  }

  private static func text(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String {
    String(decoding: [UInt8](copying: bytes.extracting(range)), as: UTF8.self)
  }

  /// Returns true if the request names the host of this gateway, or no host. A request for another host gets 421, so
  /// that no redirect can contain another host (RFC 9110, sections 7.4 and 15.5.20).
  private func isServed(_ head: RequestHead, _ bytes: Span<UInt8>, _ client: ClientFacts) -> Bool {
    if let forwarded = client.forwardedHost {
      let forwarded = Array(forwarded.lowercased().utf8)
      return forwarded == snapshot.authority.bytes || forwarded == snapshot.authorityWithPort.bytes
    }
    guard let host = head.host else { return true }
    return snapshot.authority.isEqual(bytes, host) || snapshot.authorityWithPort.isEqual(bytes, host)
  }

  /// Returns true if the connection is safe for OAuth: it uses TLS, or the client is on this machine (`I-transport`).
  private func isProtected(_ client: ClientFacts) -> Bool {
    client.peer.isSecure || client.peer.isLoopback
  }

  /// Refuses a request whose path may bypass the rules. If the policy enforces no client, the request passes, and the
  /// refusal is only a finding.
  private func refuseOrPass(
    _ rejection: Rejection, _ client: ClientFacts, _ form: ErrorForm, path: String? = nil
  ) -> Route {
    withLine(client, form) {
      policy.isEnforcing ? refuse(rejection, client, form, path: path) : observe(rejection, client, path: path)
    }
  }

  /// Logs and counts a refusal, but passes the request.
  private func observe(_ rejection: Rejection, _ client: ClientFacts, path: String?) -> Route {
    let trail = trail(for: client.reference)
    trail.path = path
    trail.mode = EnforcementMode.observe.rawValue
    trail.recordWouldReject(rejection)
    record(trail, status: 0, peer: client.peer, began: SystemClock.monotonicInstant())
    return .pass
  }

  /// Logs and counts a refusal, and refuses the request.
  ///
  /// - Parameters:
  ///   - path: The path for the log (`AuditTrail.path`); `nil` to log none.
  ///   - detail: The text for the developer of the app; `nil` for the text of the rejection.
  ///   - show: Creates the response; `nil` for the error page or the problem details.
  private func refuse(
    _ rejection: Rejection, _ client: ClientFacts, _ form: ErrorForm, path: String? = nil, detail: String? = nil,
    showing show: ((Pages, ErrorPage) -> Response)? = nil
  ) -> Route {
    let trail = trail(for: client.reference)
    trail.path = path
    trail.recordRefusal(rejection)
    let page = ErrorPage(rejection, detail: detail)
    let pages = pages.naming(request: trail.requestID)
    var response = pages.marked(show?(pages, page) ?? pages.error(page, as: form))
    response.rule = rejection.ruleID
    record(trail, status: response.status, peer: client.peer, began: SystemClock.monotonicInstant())
    return .refuse(response)
  }

  private func refuseUnknownHost(_ client: ClientFacts, _ form: ErrorForm) -> Route {
    withLine(client, form) {
      refuse(
        .hostUnknown, client, form,
        detail: "this gateway is `\(policy.gateway.origin.authority)`; use that name, or set `gateway.origin`")
    }
  }

  private func refuseInsecureTransport(_ client: ClientFacts, _ form: ErrorForm) -> Route {
    withLine(client, form) {
      refuse(
        .transportInsecure, client, form,
        detail: "OAuth endpoints answer only over TLS; a proxy that ends TLS must be in `trusted_proxies`")
    }
  }

  // MARK: Intercepted requests

  /// Answers a request that ``route(_:_:_:client:)`` intercepted.
  public func respond(to request: Request, routeTag: UInt8, upstream: Upstream) async -> Reply {
    guard ProcessorTime.isLong(request) || routeTag == Endpoint.deviceQRCode.rawValue else {
      return await answer(request, routeTag, upstream, nil)
    }
    guard let work = resources.processorTime.begin(for: request.peer) else {
      return .overLimit(.processorTimePerAddress)
    }
    return await answer(request, routeTag, upstream, work)
  }

  /// - Parameter work: The work on a request that may be expensive; otherwise `nil`.
  private func answer(
    _ request: Request, _ routeTag: UInt8, _ upstream: Upstream, _ work: ProcessorTime.Work?
  ) async -> Reply {
    let began = SystemClock.monotonicInstant()
    let turn = Poller.current?.turnBegan
    // `route` set the tag to the raw value of an endpoint, which is the index of the endpoint in `allCases`.
    let row = Endpoint.allCases[Int(routeTag)].row
    let trail = trail(for: request)
    trail.endpoint = row.label
    let intercepted = InterceptedRequest(gateway: self, request: request, upstream: upstream, trail: trail)
    intercepted.work = work
    guard reserveLine() else { return .refusal(refuseUnlogged(intercepted)) }
    defer { releaseLine() }
    if row.scripts != .none, var preflight = snapshot.crossOrigin.preflightResponse(to: request) {
      preflight.headers.set(RequestReference.fieldName, trail.requestID)
      record(trail, status: preflight.status, peer: request.peer, began: began)
      return .response(preflight)
    }
    var reply: Reply
    switch row.handling {
    case .answer where row.scripts == .ofClient && policy.isObserving && CrossOriginAccess.isPreflight(request):
      reply = await intercepted.passPreflight()
    case .answer(let answer), .answerIf(_, let answer), .answerInstead(_, let answer):
      reply = await answer(intercepted)
    // Not reached: `route` refuses or passes the requests of such an endpoint and never intercepts them.
    case .refuse(let rejection):
      trail.recordRefusal(rejection)
      reply = .response(intercepted.pages.error(ErrorPage(rejection)))
    }
    // In another turn of the loop, the time would include a wait. `chargeWork` has already charged the time in front of it.
    if Poller.current?.turnBegan == turn { intercepted.chargeWork() }
    switch row.scripts {
    case .ofListedOrigins: reply.edit { snapshot.crossOrigin.edit(&$0, to: request) }
    case .ofClient, .none:
      let client = intercepted.recordedClient
      if let client, client.mode == .enforce {
        reply.edit { snapshot.crossOrigin.edit(&$0, to: request, from: row.scripts == .ofClient ? client : nil) }
      }
    }
    if marksResponse(trail) { reply.edit { $0.headers.set(RequestReference.fieldName, trail.requestID) } }
    record(trail, status: reply.status, peer: request.peer, began: began)
    if trail.decision == .reject, case .response(var response) = reply {
      response.rule = trail.rejection?.ruleID
      return .refusal(response)
    }
    return reply
  }

  func recordLimit(_ limit: LimitKind) { metrics.recordLimit(limit) }
  func recordDocumentFetch(_ outcome: DocumentFetchOutcome) { metrics.documentFetched(outcome) }
  func recordTokenCheck(_ outcome: TokenCheckOutcome, at endpoint: DecisionEndpoint) {
    metrics.tokenChecked(outcome, at: endpoint)
  }

  // MARK: Dropped fields

  /// True if the policy observes some requests. The proxy then calls `dropped` for each header field that it removes.
  public var observesDroppedFields: Bool { policy.isObserving }

  /// Counts a header field that the proxy removed from a request, and logs its name at most once a minute
  /// (`I-transport`). An upstream that was behind another proxy before may rely on such a field.
  public func dropped(field name: String, client: ClientFacts) {
    metrics.identityFieldDropped()
    guard resources.droppedFields.admit(name), reserveLine() else { return }
    defer { releaseLine() }
    let trail = trail(for: client.reference)
    trail.mode = EnforcementMode.observe.rawValue
    trail.findings.append("identity-field-dropped:\(name)")
    record(trail, status: 0, peer: client.peer, began: SystemClock.monotonicInstant())
  }

  /// Logs a finding in a passing response, each at most once a minute.
  public func found(_ finding: ResponseFinding, request: RequestReference) {
    guard resources.droppedFields.admit(finding.rawValue), reserveLine() else { return }
    defer { releaseLine() }
    let trail = trail(for: request)
    if !policy.isEnforcing { trail.mode = EnforcementMode.observe.rawValue }
    trail.findings.append(finding.rawValue)
    // The proxy does not pass the client's address with a response.
    record(trail, status: 0, peer: Peer(address: ""), began: SystemClock.monotonicInstant())
  }

  /// Logs that a passing request has a cookie with the name of an OAuth parameter, for each name at most once a minute.
  public func found(parameterInCookie name: String, client: ClientFacts) {
    let finding = InterceptedRequest.finding(cookieParameter: name)
    guard resources.droppedFields.admit(finding), reserveLine() else { return }
    defer { releaseLine() }
    let trail = trail(for: client.reference)
    if !policy.isEnforcing { trail.mode = EnforcementMode.observe.rawValue }
    trail.findings.append(finding)
    record(trail, status: 0, peer: client.peer, began: SystemClock.monotonicInstant())
  }

  /// Counts the decision on a request and appends it to the decision log.
  ///
  /// - Parameters:
  ///   - status: The status of the gateway's response; 0 if the gateway does not answer the request itself.
  ///   - began: The start of the work on the request.
  func record(_ trail: AuditTrail, status: Int, peer: Peer, began: MonotonicInstant) {
    let record = DecisionRecord(
      time: SystemClock.timestamp(),
      request: trail.requestID,
      flow: trail.flow, trace: trail.trace?.traceID, transaction: trail.transaction?.description,
      family: trail.family?.description, endpoint: trail.endpoint,
      client: trail.client, decision: trail.decision, step: trail.decision == .reject ? nil : trail.step,
      grant: trail.grant, rule: trail.rejection?.ruleID, status: status, mode: trail.mode,
      findings: trail.findings, redirectKind: trail.redirectKind, path: trail.path,
      upstreamStatus: trail.upstreamStatus, durationNanoseconds: (SystemClock.monotonicInstant() - began).count,
      peer: peer.address, policyVersion: policy.version, networks: trail.networks, details: trail.details)
    metrics.decided(record, isListed: trail.clientIsConfigured)
    resources.log.append(record, worker: worker, isKept: keepsAllLines)
  }

  /// Counts a request that is refused because its decision could not be logged. It has no line.
  func countUnlogged(at endpoint: DecisionEndpoint) {
    metrics.refusedUnlogged(at: endpoint, rule: Rejection.logUnavailable.ruleID, time: SystemClock.timestamp())
  }

  // MARK: Failures of the proxy

  /// Returns the error response for a request that the proxy refused because of its HTTP message.
  private func messageErrorResponse(_ error: MessageError, _ form: ErrorForm, _ pages: Pages) -> Response {
    var response = pages.error(ErrorPage(status: error.status, detail: error.description), as: form)
    // RFC 9110, section 15.5.6, requires `Allow`. These are the methods that the proxy forwards. An endpoint that
    // accepts only some of them sends its own `Allow`.
    if error.status == 405 { response.headers.set("Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS") }
    return response
  }

  /// Returns 429 if the client's address has too many connections or requests (RFC 6585, section 4), and 503 for a
  /// limit that all clients share (RFC 9110, section 15.6.4).
  private func limitResponse(_ limit: LimitKind, _ form: ErrorForm, _ pages: Pages) -> Response {
    let addressDetail: String? =
      switch limit {
      case .connectionsPerAddress: "too many connections from this address"
      case .requestsPerAddress: "too many requests from this address"
      case .processorTimePerAddress: "too many expensive requests from this address"
      default: nil
      }
    return pages.error(
      ErrorPage(
        status: addressDetail == nil ? 503 : 429, section: addressDetail == nil ? nil : "RFC 6585, section 4",
        detail: addressDetail ?? "the gateway has reached a limit",
        retryAfter: ErrorPage.retryDelay), as: form)
  }

  /// Informs the operator of a request that the proxy could not handle, and of the reason.
  public func failed(_ report: FailureReport) {
    let id = requestID(report.reference)
    resources.failures.report(report, id: id)
  }

  /// Returns the error page or problem details for a request that the proxy could not handle.
  public func failure(_ failure: ProxyFailure, as form: ErrorForm, request: RequestReference) -> Response {
    let pages = pages.naming(request: requestID(request))
    return pages.marked(response(to: failure, form, pages))
  }

  /// Returns an error of RFC 7591, section 3.2.2, for a registration; `nil` for a request of another endpoint.
  public func responseToLongBody(limit: Int, routeTag: UInt8, request: RequestReference) -> Response? {
    guard routeTag == Endpoint.registration.rawValue else { return nil }
    return pages.naming(request: requestID(request)).marked(
      RegistrationEndpoint.response(toBodyLongerThan: limit))
  }

  private func response(to failure: ProxyFailure, _ form: ErrorForm, _ pages: Pages) -> Response {
    switch failure {
    case .request(let error): messageErrorResponse(error, form, pages)
    case .timeout: pages.error(ErrorPage(status: 408, detail: "the request did not arrive in time"), as: form)
    case .overloaded(let limit): limitResponse(limit, form, pages)
    case .bodyTooLarge(let limit):
      pages.error(ErrorPage(status: 413, detail: "the body is longer than \(limit) bytes"), as: form)
    case .loop:
      pages.error(
        ErrorPage(
          status: 508, section: "RFC 9110, section 7.6.3",
          detail: "the request has already passed through this gateway"), as: form)
    case .upstream(let failure):
      pages.error(
        ErrorPage(status: failure.status, retryAfter: failure.status == 503 ? ErrorPage.retryDelay : nil), as: form)
    }
  }
}

extension Reply {
  var status: Int {
    switch self {
    case .response(let response), .refusal(let response): response.status
    case .relay(_, let response): response.status
    // The status of the error response for a limit of one client (`limitResponse`).
    case .overLimit: 429
    }
  }

  /// Changes the response that the client gets.
  mutating func edit(_ edit: (inout Response) -> Void) {
    switch self {
    case .response(var response):
      edit(&response)
      self = .response(response)
    case .refusal(var response):
      edit(&response)
      self = .refusal(response)
    case .relay(let upstream, var response):
      edit(&response)
      self = .relay(upstream, response)
    // The proxy creates this response.
    case .overLimit: break
    }
  }
}
