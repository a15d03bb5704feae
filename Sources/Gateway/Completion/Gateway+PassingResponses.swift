import Enforcement
public import HTTP
import OAuth
import Policy
public import Proxy
import Reactor
import Stores
import Telemetry

/// Decides on the responses at paths that are not endpoints, which the proxy forwards.
extension Gateway {
  /// Decides on a response at a path that is not an endpoint. Withholds it if the location sends a code or a token to a
  /// URI that `LocationGuard` protects. If the browser has the gateway's cookie, also withholds an error that may
  /// belong to a transaction, and a code for an origin other than the gateway and the upstream.
  public func passingLocation(_ location: String, requestHasPrivateCookie: Bool, request: UInt64) -> LocationVerdict {
    let locations = snapshot.locations
    if locations.leaksAuthorizationResponse(location) {
      // With `callback: network`, a redirect to the callback passes to a browser without the cookie: the callback
      // endpoint handles the response.
      let isForCallback =
        policy.upstream.callback == .network && !requestHasPrivateCookie && locations.leadsToCallback(location)
      return isForCallback ? .keep : .withhold
    }
    if requestHasPrivateCookie, locations.containsErrorResponse(location),
      let state = UpstreamAuthorizationResponse(location: location)?.state,
      states.mayDecode(state)
    {
      return .withhold
    }
    // Only the content of the cookie shows whether a transaction runs. `respond(to:upstream:)` decrypts it and passes
    // the response if none runs.
    if requestHasPrivateCookie, locations.sendsCodeToOtherOrigin(location) { return .withhold }
    if let observed = noteObserved(location: location) {
      // The request was not for an endpoint, so no other log line mentions this response.
      let trail = AuditTrail(request)
      trail.mode = EnforcementMode.observe.rawValue
      trail.observed = observed
      record(trail, status: 0, peer: Peer(address: ""), began: SystemClock.monotonicNanoseconds())
    }
    return .keep
  }

  /// Returns true if a target of the `Link` field contains a code or token for a URI that `LocationGuard` protects or,
  /// for a browser with the gateway's cookie, a code for an origin other than the gateway and the upstream.
  public func withholdsLink(_ value: String, requestHasPrivateCookie: Bool) -> Bool {
    let locations = snapshot.locations
    return LinkField.targets(of: value).contains { target in
      locations.leaksAuthorizationResponse(target)
        || requestHasPrivateCookie && locations.sendsCodeToOtherOrigin(target)
    }
  }

  /// Returns the response that the browser gets in place of a withheld one: the completed authorization response, a
  /// refusal, or the withheld response itself if it need not be withheld.
  public func respond(to withheld: WithheldResponse, upstream: Upstream) async -> Response {
    let began = SystemClock.monotonicNanoseconds()
    let trail = AuditTrail(withheld.request.sequenceNumber)
    trail.endpoint = .response
    trail.upstreamStatus = withheld.response.status
    let intercepted = InterceptedRequest(gateway: self, request: withheld.request, upstream: upstream, trail: trail)
    let response = await PassingResponse(intercepted, withheld).respond()
    record(trail, status: response.status, peer: withheld.request.peer, began: began)
    return response
  }

  /// Hardens the header fields of an upstream page, as for pages at the authorization endpoint.
  public func editPassing(_ response: inout Response) {
    UpstreamPageHeaders.harden(&response, isSecure: policy.gateway.origin.scheme == .https)
  }

  /// Records an authorization response that the gateway forwards, and returns its log fields. Returns `nil` if the
  /// policy observes nothing or the location is not an authorization response with a code.
  func noteObserved(location: String) -> ObservedRequest? {
    guard policy.isObserving, let answer = UpstreamAuthorizationResponse(location: location),
      let link = ObservedFlow.digests(of: answer)
    else { return nil }
    resources.observed.recordResponse(link.link, code: link.code, now: now)
    var observed = ObservedRequest()
    observed.flow = link.link.description
    observed.codeDigest = link.code.description
    return observed
  }
}

/// Handles a withheld response: a response at a path that is not an endpoint, with a URL in its fields that must not
/// reach the browser unchecked (`I-completion`).
///
/// Many upstreams keep the authorization request in their session, and redirect to the client from the path of their
/// login or consent page. The gateway completes such an authorization response under the same rules as one from the
/// authorization endpoint: it replaces the upstream's code by a sealed one and redirects to the client.
struct PassingResponse {
  private let intercepted: InterceptedRequest
  private let withheld: WithheldResponse

  init(_ intercepted: InterceptedRequest, _ withheld: WithheldResponse) {
    self.intercepted = intercepted
    self.withheld = withheld
  }

  /// Returns the response for the browser, with the cookies of the withheld response, such as that of a new session.
  func respond() async -> Response {
    var response = await responseWithoutCookies()
    for field in intercepted.cookies(of: withheld.response) { response.headers.append("Set-Cookie", field) }
    return response
  }

  private func responseWithoutCookies() async -> Response {
    let head = withheld.response
    guard let location = head.headers.onlyValue(of: "Location") else { return responseForOtherOrigin() ?? refuse() }
    let isRedirect = (300..<400).contains(head.status)
    guard isRedirect, !otherFieldLeaks,
      let authorizationResponse = UpstreamAuthorizationResponse(location: intercepted.absolute(location)),
      let state = authorizationResponse.state
    else { return responseForOtherOrigin() ?? refuse() }
    do throws(StoreError) {
      switch try await intercepted.gateway.states.open(state, now: intercepted.now) {
      case .value(let transaction): return await complete(authorizationResponse, transaction)
      case .keyUnknown: return intercepted.respond(with: .withoutRedirect(.sealingKeyUnknown))
      // This is an error response. Its `state` resembles one of the gateway but is not, so no transaction is affected.
      case .invalid where !intercepted.gateway.snapshot.locations.leaksAuthorizationResponse(location):
        return responseForOtherOrigin() ?? passedResponse(head)
      case .invalid: return refuse()
      }
    } catch {
      return intercepted.respond(with: .withoutRedirect(.storeUnavailable))
    }
  }

  private func complete(
    _ authorizationResponse: UpstreamAuthorizationResponse, _ transaction: AuthorizationTransaction
  ) async -> Response {
    let isBound = intercepted.session()?.isBound(to: transaction.browserSecretHash) ?? false
    // The code must not be one that the request contained and the upstream reflected. That cannot be checked if the
    // gateway kept only a part of the request.
    guard withheld.isComplete || !isBound else { return refuse(transaction) }
    return await intercepted.finish(authorizationResponse, transaction, browserMatches: isBound)
  }

  /// True if a field other than `Location` also sends a code or token to a protected URI.
  private var otherFieldLeaks: Bool {
    withheld.response.secondaryDestinations.contains(
      where: intercepted.gateway.snapshot.locations.leaksAuthorizationResponse)
  }

  /// Handles a response that was withheld only because it sends a code to an origin other than the gateway's and the
  /// upstream's. The response is refused if a transaction of the browser runs and the code is not for an observed
  /// client. Otherwise it passes. Returns `nil` for any other response.
  private func responseForOtherOrigin() -> Response? {
    let locations = intercepted.gateway.snapshot.locations
    let head = withheld.response
    let destinations = head.headers.all("Location") + head.secondaryDestinations
    let otherOrigins = destinations.filter(locations.sendsCodeToOtherOrigin)
    guard !otherOrigins.isEmpty, !destinations.contains(where: locations.leaksAuthorizationResponse) else { return nil }
    let hasRunningTransaction = intercepted.session().map { $0.liveUntil > intercepted.now } ?? false
    if hasRunningTransaction, !otherOrigins.allSatisfy(intercepted.isForObservedClient) {
      return intercepted.respond(with: .withoutRedirect(.responseToOtherURI))
    }
    intercepted.trail.mode = EnforcementMode.observe.rawValue
    for location in otherOrigins where intercepted.trail.observed == nil {
      intercepted.trail.observed = intercepted.gateway.noteObserved(location: location)
    }
    return passedResponse(head)
  }

  private func refuse(_ transaction: AuthorizationTransaction? = nil) -> Response {
    intercepted.respond(with: .withoutRedirect(.responseWithoutSignIn), transaction: transaction)
  }

  /// Returns the upstream's response with hardened header fields. The body is omitted, because browsers do not show
  /// that of a redirect, and so are the cookies, which `respond` adds.
  private func passedResponse(_ head: Response) -> Response {
    var response = Response(status: head.status, headers: head.headers)
    response.headers.remove("Set-Cookie")
    response.headers.remove("Content-Encoding")
    UpstreamPageHeaders.harden(&response, isSecure: intercepted.policy.gateway.origin.scheme == .https)
    return response
  }
}
