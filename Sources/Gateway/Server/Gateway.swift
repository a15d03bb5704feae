internal import Bytes
import Cryptography
import Enforcement
public import HTTP
public import HTTP1
import OAuth
import Policy
public import Proxy
import Reactor
import Sealing
import Telemetry

/// The OAuth part of one worker: it decides which requests are intercepted, and answers them.
public final class Gateway: Handler {
  let snapshot: GatewaySnapshot
  let resources: GatewayResources
  let sealer: Sealer
  let random = RandomPool()
  private let worker: Int
  private let metrics: WorkerMetrics

  /// Creates the gateway of one worker. `worker` is the worker's index, from 0.
  public init(_ snapshot: GatewaySnapshot, _ resources: GatewayResources, worker: Int) {
    self.snapshot = snapshot
    self.resources = resources
    self.worker = worker
    metrics = resources.metrics.workers[worker]
    sealer = Sealer(keyRing: snapshot.keyRing, issuer: snapshot.policy.gateway.issuer, random: random)
  }

  var policy: Policy { snapshot.policy }
  var pages: Pages { snapshot.pages }
  /// The current time, in seconds since 1970.
  var now: Int64 { resources.now() }

  var pushedRequests: PushedRequests { PushedRequests(sealer: sealer, store: resources.store) }

  var states: TransactionStateCodec {
    TransactionStateCodec(sealer: sealer, store: resources.store, limit: policy.upstream.stateLimit)
  }

  // MARK: Routing

  /// Matches the request with the endpoints and returns its handling. Requests for another host are refused.
  public func route(_ head: RequestHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, client: ClientFacts) -> Route {
    guard isServed(head, bytes, client) else { return misdirected(client, ErrorForm(bytes, fields)) }
    switch snapshot.matcher.read(path: bytes.extracting(head.path), query: bytes.extracting(head.query ?? 0..<0)) {
    case .other:
      if head.method == .post, head.body != .none, FormType(bytes, fields) != nil { return .inspect }
      return pass(head, bytes, fields, client)
    case .unlisted: return routeUnlisted(head, bytes, fields, client)
    case .notPassed:
      return refuseOrPass(
        .pathNotPassed, client, ErrorForm(bytes, fields), path: EndpointMatcher.names(in: bytes.extracting(head.path)))
    case .ambiguous: return refuseOrPass(.pathAmbiguous, client, ErrorForm(bytes, fields))
    case .resembling:
      return refuseOrPass(
        .pathResemblesEndpoint, client, ErrorForm(bytes, fields),
        path: snapshot.matcher.entry(for: bytes.extracting(head.path)))
    case .exact(let endpoint): return route(to: endpoint, bytes, fields, client)
    }
  }

  private func route(
    to endpoint: Endpoint, _ bytes: Span<UInt8>, _ fields: HeadIndex, _ client: ClientFacts
  ) -> Route {
    let isAnswered: Bool
    switch endpoint.row.handling {
    case .refuse(let rejection): return refuseOrPass(rejection, client, ErrorForm(bytes, fields))
    case .answer: isAnswered = true
    case .answerIf(let condition, _): isAnswered = condition(snapshot)
    }
    guard isProtected(client) else { return insecure(client, ErrorForm(bytes, fields)) }
    return isAnswered ? .intercept(bodyLimit: snapshot.bodyLimit, tag: endpoint.rawValue) : .pass
  }

  /// Routes a request with a form at a path that is no endpoint, by the names of its parameters.
  public func routeForm(
    _ head: RequestHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, client: ClientFacts, body: [UInt8]
  ) -> Route {
    var names = OAuthNames(form: [UInt8](copying: bytes.extracting(head.query ?? 0..<0)))
    switch FormType(bytes, fields) {
    case .urlEncoded: names.formUnion(OAuthNames(form: body))
    case .multipart: names.formUnion(OAuthNames(multipart: body))
    case nil: break
    }
    return names.isRequest ? routeUnlisted(head, bytes, fields, client) : pass(head, bytes, fields, client)
  }

  private func pass(_ head: RequestHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, _ client: ClientFacts) -> Route {
    policy.blocksEmbeddedUserAgents ? routeDuringTransaction(head, bytes, fields, client) : .pass
  }

  /// Routes an authorization or token request on a path that is no endpoint of the policy: an alias, which no rule
  /// covers.
  private func routeUnlisted(
    _ head: RequestHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, _ client: ClientFacts
  ) -> Route {
    let path = EndpointMatcher.names(in: bytes.extracting(head.path))
    if policy.isEnforcing, policy.unlistedOAuth == .reject {
      return refuse(.unlistedOAuth, client, ErrorForm(bytes, fields), path: path)
    }
    let route = pass(head, bytes, fields, client)
    guard case .pass = route else { return route }
    return observe(.unlistedOAuth, client, path: path)
  }

  /// Routes a request for an upstream page that is no endpoint, such as a login page. If a transaction of the browser
  /// runs that blocks embedded user agents, they are blocked here, too (RFC 8252, section 8.12).
  private func routeDuringTransaction(
    _ head: RequestHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, _ client: ClientFacts
  ) -> Route {
    guard fields.has(.cookie) else { return .pass }
    var cookies: [String] = []
    var userAgent = ""
    for field in fields {
      if field.known == .cookie {
        cookies.append(Gateway.text(bytes, field.value))
      } else if HeadIndex.equal(bytes, field.name, "user-agent") {
        userAgent = Gateway.text(bytes, field.value)
      }
    }
    guard let session = snapshot.cookie.read(cookies, sealer), session.liveUntil > now,
      let refusal = Enforcement.decideInteraction(userAgent: userAgent, userAgentGuard: session.userAgentGuard)
    else { return .pass }
    return refuse(refusal.rejection, client, .page) { [pages] in pages.embeddedUserAgent(address: nil, $0) }
  }

  private static func text(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String {
    String(decoding: [UInt8](copying: bytes.extracting(range)), as: UTF8.self)
  }

  /// Returns true if the request is for this gateway. The gateway answers for no other host, and no other host ever
  /// gets into a redirect (RFC 9110, sections 7.4 and 15.5.20).
  private func isServed(_ head: RequestHead, _ bytes: Span<UInt8>, _ client: ClientFacts) -> Bool {
    if let forwarded = client.forwardedHost {
      let forwarded = Array(forwarded.lowercased().utf8)
      return forwarded == snapshot.authority.bytes || forwarded == snapshot.authorityWithPort.bytes
    }
    guard let host = head.host else { return true }
    return snapshot.authority.isEqual(bytes, host) || snapshot.authorityWithPort.isEqual(bytes, host)
  }

  /// Returns true if an OAuth endpoint may answer: over TLS, or without a network in between (`I-transport`).
  private func isProtected(_ client: ClientFacts) -> Bool {
    client.peer.isSecure || client.peer.isLoopback
  }

  /// Refuses a path that may bypass an enforced client. If the policy enforces no client, there is nothing to bypass:
  /// the request passes and the refusal is a finding.
  private func refuseOrPass(
    _ rejection: Rejection, _ client: ClientFacts, _ form: ErrorForm, path: String? = nil
  ) -> Route {
    policy.isEnforcing ? refuse(rejection, client, form, path: path) : observe(rejection, client, path: path)
  }

  /// Logs and counts a refusal that is not carried out.
  private func observe(_ rejection: Rejection, _ client: ClientFacts, path: String?) -> Route {
    let trail = AuditTrail(client.request)
    trail.path = path
    trail.mode = EnforcementMode.observe.rawValue
    trail.wouldReject(rejection)
    record(trail, status: 0, peer: client.peer, began: Clock.monotonicNanoseconds())
    return .pass
  }

  private func refuse(
    _ rejection: Rejection, _ client: ClientFacts, _ form: ErrorForm, path: String? = nil, detail: String? = nil,
    showing show: ((ErrorPage) -> Response)? = nil
  ) -> Route {
    let trail = AuditTrail(client.request)
    trail.path = path
    trail.refused(rejection)
    let page = ErrorPage(rejection, detail: detail)
    let response = show?(page) ?? pages.error(page, as: form)
    record(trail, status: response.status, peer: client.peer, began: Clock.monotonicNanoseconds())
    return .refuse(response)
  }

  private func misdirected(_ client: ClientFacts, _ form: ErrorForm) -> Route {
    refuse(
      .hostUnknown, client, form,
      detail: "this gateway is `\(policy.gateway.origin.authority)`; use that name, or set `gateway.origin`")
  }

  private func insecure(_ client: ClientFacts, _ form: ErrorForm) -> Route {
    refuse(
      .transportInsecure, client, form,
      detail: "OAuth endpoints answer only over TLS; a proxy that ends TLS must be in `trusted_proxies`")
  }

  // MARK: Intercepted requests

  /// Answers a request that ``route(_:_:_:client:)`` intercepted.
  public func respond(to request: Request, tag: UInt8, upstream: Upstream) async -> Reply {
    let began = Clock.monotonicNanoseconds()
    // `route` set the tag to the raw value of an endpoint.
    let row = Endpoint.allCases[Int(tag)].row
    let trail = AuditTrail(request.number)
    trail.endpoint = row.label
    let intercepted = InterceptedRequest(gateway: self, request: request, upstream: upstream, trail: trail)
    let reply: Reply
    switch row.handling {
    case .answer(let answer), .answerIf(_, let answer): reply = await answer(intercepted)
    case .refuse(let rejection):
      trail.refused(rejection)
      reply = .response(pages.error(ErrorPage(rejection)))
    }
    record(trail, status: reply.status, peer: request.peer, began: began)
    if trail.decision == .reject, case .response(let response) = reply { return .refusal(response) }
    return reply
  }

  func limited(_ limit: LimitKind) { metrics.limited(limit) }

  // MARK: Dropped fields

  /// True if the policy observes a client. Dropped fields are then logged.
  public var observesDroppedFields: Bool { policy.isObserving }

  /// Counts a field on which a server behind another proxy may rely, and logs it at most once a minute (`I-transport`).
  public func dropped(field name: String, client: ClientFacts) {
    metrics.identityFieldDropped()
    guard resources.droppedFields.isDue(name) else { return }
    let trail = AuditTrail(client.request)
    trail.mode = EnforcementMode.observe.rawValue
    trail.findings.append("identity-field-dropped:\(name)")
    record(trail, status: 0, peer: client.peer, began: Clock.monotonicNanoseconds())
  }

  private func record(_ trail: AuditTrail, status: Int, peer: Peer, began: UInt64) {
    metrics.decided(
      trail.decision, at: trail.endpoint, client: trail.isConfigured ? trail.client : nil, rule: trail.rule?.ruleID)
    resources.log.append(
      DecisionRecord(
        time: Int64(Clock.realNanoseconds() / 1_000_000),
        request: resources.requestIDs.id(worker: worker, number: trail.request),
        transaction: trail.transaction?.description,
        family: trail.family?.description, endpoint: trail.endpoint, client: trail.client, decision: trail.decision,
        rule: trail.rule?.ruleID,
        status: status, mode: trail.mode, findings: trail.findings, redirectKind: trail.redirectKind,
        path: trail.path,
        upstreamStatus: trail.upstreamStatus, durationNanoseconds: Clock.monotonicNanoseconds() - began,
        peer: peer.address, policyVersion: policy.version, networks: trail.networks,
        observed: trail.observed),
      worker: worker)
  }

  /// Links an authorization response that passes to its request, if the location is such a response.
  func noteObserved(location: String) -> ObservedRequest? {
    guard policy.isObserving, let answer = UpstreamAuthorizationResponse(location: location),
      let link = ObservedFlow.link(answer)
    else { return nil }
    resources.observed.answer(link.link, code: link.code, now: now)
    var observed = ObservedRequest()
    observed.flow = link.link.description
    observed.code = link.code.description
    return observed
  }

  // MARK: Passing responses

  /// Withholds a response whose location hands out a code, a token or an error that belongs to a transaction.
  public func passingLocation(_ location: String, carriesCookie: Bool, request: UInt64) -> LocationVerdict {
    let locations = snapshot.locations
    if locations.leaksAuthorizationResponse(location) {
      // With `callback: network`, the callback endpoint completes a response that went to a browser without a
      // transaction.
      let isForCallback = policy.upstream.callback == .network && !carriesCookie && locations.isCallback(location)
      return isForCallback ? .keep : .withhold
    }
    if carriesCookie, locations.isError(location), let state = UpstreamAuthorizationResponse(location: location)?.state,
      states.mayOpen(state)
    {
      return .withhold
    }
    // Only the cookie shows whether a transaction of the browser runs; the other `respond` opens it.
    if carriesCookie, locations.leavesWithCode(location) { return .withhold }
    if let observed = noteObserved(location: location) {
      // The request that this response answers is at no endpoint and has no log line.
      let trail = AuditTrail(request)
      trail.mode = EnforcementMode.observe.rawValue
      trail.observed = observed
      record(trail, status: 0, peer: Peer(address: ""), began: Clock.monotonicNanoseconds())
    }
    return .keep
  }

  /// Returns true if a target of the `Link` field hands out a code or token.
  public func withholdsLink(_ value: String, carriesCookie: Bool) -> Bool {
    let locations = snapshot.locations
    return LinkField.targets(of: value).contains { target in
      locations.leaksAuthorizationResponse(target) || carriesCookie && locations.leavesWithCode(target)
    }
  }

  /// Completes, refuses or passes a withheld response.
  public func respond(to withheld: WithheldResponse, upstream: Upstream) async -> Response {
    let began = Clock.monotonicNanoseconds()
    let trail = AuditTrail(withheld.request.number)
    trail.endpoint = .response
    trail.upstreamStatus = withheld.response.status
    let intercepted = InterceptedRequest(gateway: self, request: withheld.request, upstream: upstream, trail: trail)
    let response = await PassingResponse(intercepted, withheld).respond()
    record(trail, status: response.status, peer: withheld.request.peer, began: began)
    return response
  }

  /// Adds and removes header fields of an upstream page, as at the endpoints.
  public func editPassing(_ response: inout Response) {
    UpstreamPageHeaders.harden(&response, isSecure: policy.gateway.origin.scheme == .https)
  }

  private func unacceptable(_ error: MessageError, _ form: ErrorForm) -> Response {
    var response = pages.error(ErrorPage(status: error.status, detail: error.description), as: form)
    // RFC 9110, section 15.5.6: the methods that pass at all; the endpoints send an `Allow` field for themselves.
    if error.status == 405 { response.headers.set("Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS") }
    return response
  }

  /// Returns 429 if this client exceeds its limit (RFC 6585, section 4), and 503 if all clients together exceed one
  /// (RFC 9110, section 15.6.4).
  private func overloaded(_ limit: LimitKind, _ form: ErrorForm) -> Response {
    let isOwn = limit == .connectionsPerAddress
    return pages.error(
      ErrorPage(
        status: isOwn ? 429 : 503, section: isOwn ? "RFC 6585, section 4" : nil,
        detail: isOwn ? "too many connections from this address" : "the gateway has reached a limit",
        retryAfter: ErrorPage.retryDelay), as: form)
  }

  /// Returns the error page or problem details for a request that the proxy could not handle.
  public func failure(_ failure: ProxyFailure, as form: ErrorForm) -> Response {
    switch failure {
    case .request(let error): unacceptable(error, form)
    case .timeout: pages.error(ErrorPage(status: 408, detail: "the request did not arrive in time"), as: form)
    case .overloaded(let limit): overloaded(limit, form)
    case .bodyTooLarge:
      pages.error(ErrorPage(status: 413, detail: "the body is longer than \(snapshot.bodyLimit) bytes"), as: form)
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
    }
  }
}

extension ErrorPage {
  /// The number of seconds after which a new attempt makes sense if the upstream or the store is unavailable.
  static let retryDelay = 5

  /// Creates the page for a rejection.
  init(_ rejection: Rejection, detail: String? = nil, transaction: TransactionID? = nil) {
    self.init(
      status: rejection.status, rule: rejection.ruleID, section: rejection.reference,
      detail: detail ?? rejection.errorDescription, transaction: transaction?.description,
      retryAfter: rejection.status == 503 ? ErrorPage.retryDelay : nil)
  }
}
