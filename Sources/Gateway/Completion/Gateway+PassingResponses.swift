import Enforcement
public import HTTP
import HTTP1
import OAuth
import PathReading
import Policy
public import Proxy
import Reactor
import Stores
import Telemetry

/// Decides whether the proxy may forward the responses to requests for paths that are not endpoints.
extension Gateway {
  /// Decides on a response at a path that is not an endpoint. Withholds it if the location sends a code or a token to a
  /// URI that `LocationGuard` protects. If the browser has the gateway's cookie, also withholds an error that may
  /// belong to a transaction, and a code for an origin other than the gateway and the upstream.
  ///
  /// While a client is enforced, a redirect with such a code is also withheld without the cookie, so that
  /// `respond(to:upstream:)` claims the code, and so is a redirect that repeats a POST on another origin.
  public func passingLocation(
    _ location: String, in response: PassingResponseFacts, path: () -> [UInt8]
  ) -> LocationVerdict {
    let locations = snapshot.locations
    let hasCookie = response.requestHasHandlerCookie
    if locations.mayContainCodeOrToken(location) {
      if locations.leaksAuthorizationResponse(location) {
        // With `callback: network`, a browser without the gateway's cookie gets the redirect to the callback, and the
        // callback endpoint handles the response.
        let isForCallback =
          policy.upstream.callback == .atCallback && !hasCookie && locations.leadsToCallback(location)
        return isForCallback ? .keep : .withhold
      }
      // Only the content of the cookie shows whether a transaction runs. `respond(to:upstream:)` decrypts the cookie, and
      // passes the response if no transaction runs.
      //
      // A withheld response loses its body. So without the cookie, only the response that leads the browser there is.
      if hasCookie || policy.isEnforcing && response.isFollowed, locations.sendsCodeToOtherOrigin(location) {
        return .withhold
      }
    }
    if hasCookie, locations.sendsErrorToProtectedURI(location),
      let state = UpstreamAuthorizationResponse(location: location)?.state,
      states.mayDecode(state)
    {
      return .withhold
    }
    if response.field == .location, policy.isEnforcing,
      locations.repeatsPostOnOtherOrigin(location, status: response.status, isPost: response.method == .post)
    {
      return .withhold
    }
    if let observed = recordObservedResponse(location: location, path: { path() }) {
      // `respond(to:upstream:)` refuses the response.
      guard reserveLine() else { return .withhold }
      defer { releaseLine() }
      // The request was for a path that is not an endpoint, so it has no log line yet. The line has no address, because
      // the proxy does not pass the client's address to this function.
      let trail = trail(for: response.request)
      trail.mode = EnforcementMode.observe.rawValue
      trail.record(observed)
      record(trail, status: 0, peer: Peer(address: ""), began: SystemClock.monotonicInstant())
    }
    return .keep
  }

  /// Returns true if a target of the `Link` fields contains a code or token for a URI that `LocationGuard` protects or,
  /// for a browser with the gateway's cookie, a code for an origin other than the gateway and the upstream.
  public func withholdsLinks(_ values: [String], requestHasHandlerCookie: Bool) -> Bool {
    let locations = snapshot.locations
    return locations.suspectTargets(of: values).contains { target in
      locations.leaksAuthorizationResponse(target)
        || requestHasHandlerCookie && locations.sendsCodeToOtherOrigin(target)
    }
  }

  /// Returns the response that the browser gets in place of a withheld one: the completed authorization response, a
  /// refusal, or the withheld response itself if it need not be withheld.
  public func respond(to withheld: WithheldResponse, upstream: Upstream) async -> Response {
    let began = SystemClock.monotonicInstant()
    let trail = trail(for: withheld.request)
    trail.endpoint = .response
    trail.upstreamStatus = withheld.response.status
    let intercepted = InterceptedRequest(gateway: self, request: withheld.request, upstream: upstream, trail: trail)
    guard reserveLine() else { return refuseUnlogged(intercepted) }
    defer { releaseLine() }
    var response = await PassingResponse(intercepted, withheld).respond()
    if marksResponse(trail) { response.headers.set(RequestReference.fieldName, trail.requestID) }
    record(trail, status: response.status, peer: withheld.request.peer, began: began)
    return response
  }

  /// Hardens the header fields of an upstream page, as for pages at the authorization endpoint.
  public func editPassing(_ response: inout Response) {
    _ = UpstreamPageHeaders.harden(&response, for: policy.gateway.origin)
  }

  /// Records an authorization response that the gateway forwards, and returns its log fields. Returns `nil` if the
  /// policy observes no client, or if the location is not an authorization response with a code.
  ///
  /// - Parameter path: Returns the path of the request; `nil` for a request at an authorization endpoint.
  func recordObservedResponse(location: String, path: () -> [UInt8]? = { nil }) -> ObservedResponse? {
    guard policy.isObserving, let answer = UpstreamAuthorizationResponse(location: location),
      let digests = ObservedFlow.digests(of: answer)
    else { return nil }
    var details = RequestDetails()
    details.flow = digests.link.description
    details.codeDigest = digests.code.description
    var observed = ObservedResponse(details: details)
    let flows = resources.observedFlows
    // `digests.link` is a digest of the state and the redirect URI. It finds the request of this response. Any page may
    // repeat a code, so only the first response with a code shows where the server completes sign-ins.
    if flows.isFirstResponse(digests.link, code: digests.code), let path = path() {
      observed.path = EndpointMatcher.redacted(path.span)
      if !snapshot.mayComplete(at: path) {
        observed.isAtUnlistedPath = true
        observed.client = flows.client(digests.link)
      }
    }
    flows.recordResponse(digests.link, code: digests.code, path: observed.path, now: now)
    return observed
  }
}

/// An authorization response that the gateway has forwarded (`I-observe`).
struct ObservedResponse {
  /// The digests for the log.
  let details: RequestDetails
  /// The path from which the response came, with `*` in place of ids and secrets; `nil` at an authorization endpoint,
  /// if no request of the response is known, or for a path that cannot be logged.
  var path: String?
  /// True if `upstream.completion_paths` does not permit the path. Then enforce mode would have refused the response.
  var isAtUnlistedPath = false
  /// The client of the request if the policy lists it and `isAtUnlistedPath` is true.
  var client: String?
}

extension AuditTrail {
  /// Records an authorization response that passes at a path that is not an endpoint.
  func record(_ observed: ObservedResponse) {
    details = observed.details
    path = observed.path
    guard observed.isAtUnlistedPath else { return }
    recordWouldReject(.completionPath)
    if let client = observed.client {
      self.client = client
      clientIsConfigured = true
    }
  }
}

/// Handles a withheld response: a response at a path that is not an endpoint, with a URL in its fields that must not
/// reach the browser unchecked (`I-completion`).
///
/// Many upstreams keep the authorization request in their session, and redirect to the client from the path of their
/// login or consent page. If `upstream.completion_paths` lists the path, the gateway completes such an authorization
/// response under the same rules as one from the authorization endpoint: it replaces the upstream's code by a sealed one
/// and redirects to the client. At any other path it claims the code and refuses the response, because a page that
/// redirects to an address of the request could have returned a stolen code.
struct PassingResponse {
  private let intercepted: InterceptedRequest
  private let withheld: WithheldResponse

  init(_ intercepted: InterceptedRequest, _ withheld: WithheldResponse) {
    self.intercepted = intercepted
    self.withheld = withheld
  }

  /// Returns the response for the browser. It has the cookies of the withheld response, for example the cookie of a new
  /// session at the upstream.
  func respond() async -> Response {
    var response = await responseWithoutCookies()
    for field in intercepted.cookies(of: withheld.response) { response.headers.append("Set-Cookie", field) }
    return response
  }

  private func responseWithoutCookies() async -> Response {
    let head = withheld.response
    guard let location = head.headers.onlyValue(of: "Location"), (300..<400).contains(head.status), !otherFieldLeaks,
      let authorizationResponse = UpstreamAuthorizationResponse(location: intercepted.absolute(location)),
      let state = authorizationResponse.state
    else { return await responseForOtherOrigin() ?? refuse() }
    do throws(StoreError) {
      switch try await intercepted.gateway.states.open(state, now: intercepted.now) {
      case .value(let transaction): return await complete(authorizationResponse, transaction)
      case .keyUnknown: return await responseOfOtherBrowser() ?? refuse(with: .sealingKeyUnknown)
      // The gateway did not create the state, so the response belongs to no transaction.
      case .invalid where !intercepted.gateway.snapshot.locations.leaksAuthorizationResponse(location):
        return await responseForOtherOrigin() ?? passedResponse(head)
      case .invalid: return refuse()
      }
    } catch {
      return await responseOfOtherBrowser() ?? refuse(with: .storeUnavailable)
    }
  }

  private func complete(
    _ authorizationResponse: UpstreamAuthorizationResponse, _ transaction: AuthorizationTransaction
  ) async -> Response {
    let path = Array(intercepted.request.path.utf8)
    if authorizationResponse.parameters.contains(.code), !intercepted.gateway.snapshot.mayComplete(at: path) {
      return await refuseAtUnlistedPath(path, transaction)
    }
    let isBound = intercepted.session()?.isBound(to: transaction.browserSecretHash) ?? false
    // A code that the request contained and the upstream only reflected must not be completed. If the gateway kept only
    // a part of the request, it cannot find such a code, so it refuses the response. If the browser is not the one that
    // began the transaction, `completeOrRefuse` refuses the response in any case.
    guard withheld.isComplete || !isBound else {
      return intercepted.respond(with: .withoutRedirect(.responseUnchecked), transaction: transaction)
    }
    return await intercepted.completeOrRefuse(authorizationResponse, transaction, browserMatches: isBound)
  }

  /// Claims the code of the response, so that no sign-in can use it later, and refuses the response.
  private func refuseAtUnlistedPath(_ path: [UInt8], _ transaction: AuthorizationTransaction) async -> Response {
    let trail = intercepted.trail
    trail.path = EndpointMatcher.redacted(path.span)
    intercepted.useDocument(in: transaction.binding.client)
    intercepted.recordClient(of: transaction)
    // The response is refused whether or not the code belongs to a sign-in already.
    _ = await intercepted.claimCodes(in: withheld.response.headers.all("Location"), for: transaction.clientID.rawValue)
    return intercepted.respond(with: .codeFromPath(trail.path), transaction: transaction)
  }

  /// True if a field other than `Location` also sends a code or token to a protected URI.
  private var otherFieldLeaks: Bool {
    let locations = intercepted.gateway.snapshot.locations
    return withheld.response.secondaryDestinations(locations).contains(where: locations.leaksAuthorizationResponse)
  }

  /// Returns the answer for a browser without the gateway's cookie whose response contains a state that cannot be opened.
  /// The state is then probably the client's own. `nil` for other browsers, and as `responseForOtherOrigin`.
  private func responseOfOtherBrowser() async -> Response? {
    intercepted.hasOwnCookie ? nil : await responseForOtherOrigin()
  }

  /// Returns the answer to a response that was withheld only because it leads to an origin other than the gateway's and
  /// the upstream's, with a code or with the body of the request; `nil` if the response was withheld for another reason.
  ///
  /// If a transaction of the browser runs and the code is not for an observed client, the response is refused. Otherwise
  /// it passes. While a client is enforced, its codes are claimed, so that no sign-in can use them later.
  private func responseForOtherOrigin() async -> Response? {
    let locations = intercepted.gateway.snapshot.locations
    let head = withheld.response
    let destinations = head.headers.all("Location") + head.secondaryDestinations(locations)
    guard !destinations.contains(where: locations.leaksAuthorizationResponse) else { return nil }
    let otherOrigins = destinations.filter(locations.sendsCodeToOtherOrigin)
    let repeatsPost = intercepted.repeatsPostOnOtherOrigin(head)
    guard repeatsPost || !otherOrigins.isEmpty else { return nil }
    if hasRunningTransaction, !otherOrigins.allSatisfy(intercepted.leadsToObservedClient) {
      return refuse(with: .responseToOtherURI)
    }
    if intercepted.policy.isEnforcing, await !intercepted.claimCodes(in: otherOrigins, for: nil) {
      return refuse(with: .codeFromOtherSignIn)
    }
    if !intercepted.hasOwnCookie { intercepted.trail.endpoint = .otherPath }
    let changesStatus = repeatsPost && mayChangeStatus
    if !changesStatus { intercepted.trail.mode = EnforcementMode.observe.rawValue }
    for location in otherOrigins where intercepted.trail.details == nil {
      let observed = intercepted.gateway.recordObservedResponse(location: location) {
        Array(intercepted.request.path.utf8)
      }
      if let observed { intercepted.trail.record(observed) }
    }
    return passedResponse(head)
  }

  private var hasRunningTransaction: Bool {
    intercepted.session().map { $0.latestTransactionExpiry > intercepted.now } ?? false
  }

  /// True if no observed client can depend on the status of the response: a sign-in of an enforced client runs in the
  /// browser, or the policy observes no client.
  private var mayChangeStatus: Bool { hasRunningTransaction || !intercepted.policy.isObserving }

  private func refuse() -> Response { refuse(with: .responseWithoutSignIn) }

  private func refuse(with rejection: Rejection) -> Response { intercepted.respond(with: .withoutRedirect(rejection)) }

  /// Returns the upstream's response, with hardened header fields for a browser with the gateway's cookie. Omits the body,
  /// because the proxy has discarded the body of a withheld response, and the cookies, because `respond` adds them.
  /// Browsers do not show the body of a redirect, but a page that was withheld because of another field, such as `Link`, is
  /// empty.
  private func passedResponse(_ head: Response) -> Response {
    var response = Response(status: head.status, headers: head.headers)
    intercepted.replaceOrigins(in: &response)
    intercepted.replaceRepeatedPost(in: &response, changesStatus: mayChangeStatus)
    response.headers.remove("Set-Cookie")
    response.headers.remove("Content-Encoding")
    if intercepted.hasOwnCookie { intercepted.harden(&response) }
    return response
  }
}
