import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Stores

/// An authorization response of the upstream at a path that is no endpoint (`I-completion`).
///
/// Many servers keep the authorization request in their session and redirect to the client from the path of their login
/// or consent page. The gateway completes such a response under the conditions of the authorization endpoint.
struct PassingResponse {
  private let intercepted: InterceptedRequest
  private let withheld: WithheldResponse

  init(_ intercepted: InterceptedRequest, _ withheld: WithheldResponse) {
    self.intercepted = intercepted
    self.withheld = withheld
  }

  /// Returns the response for the browser. It keeps the upstream's cookies, such as those of a new session.
  func respond() async -> Response {
    var response = await answer()
    for field in intercepted.cookies(of: withheld.response) { response.headers.append("Set-Cookie", field) }
    return response
  }

  private func answer() async -> Response {
    let head = withheld.response
    guard let location = head.headers.only("Location") else { return handedElsewhere() ?? unlisted() }
    let isRedirect = (300..<400).contains(head.status)
    guard isRedirect, !leadsElsewhere,
      let answer = UpstreamAuthorizationResponse(location: intercepted.absolute(location)),
      let state = answer.state
    else { return handedElsewhere() ?? unlisted() }
    do throws(StoreError) {
      switch try await intercepted.gateway.states.open(state, now: intercepted.now) {
      case .value(let transaction): return await complete(answer, transaction)
      case .keyUnknown: return intercepted.respond(with: .here(.codeKeyUnknown))
      // The app's own state resembles a handle, and the response is an error for the app.
      case .invalid where !intercepted.gateway.snapshot.locations.leaksAuthorizationResponse(location):
        return handedElsewhere() ?? passed(head)
      case .invalid: return unlisted()
      }
    } catch {
      return intercepted.respond(with: .here(.storeUnavailable))
    }
  }

  private func complete(
    _ answer: UpstreamAuthorizationResponse, _ transaction: AuthorizationTransaction
  ) async -> Response {
    let isBound = intercepted.session()?.isBound(to: transaction.browserSecretHash) ?? false
    // The part of the request that the gateway did not read could contain a code.
    guard withheld.isComplete || !isBound else { return unlisted(transaction) }
    return await intercepted.finish(answer, transaction, browserMatches: isBound)
  }

  /// True if another field also hands out a code or token.
  private var leadsElsewhere: Bool {
    withheld.response.secondaryDestinations.contains(
      where: intercepted.gateway.snapshot.locations.leaksAuthorizationResponse)
  }

  /// Returns a response if the upstream's was withheld only because of a code for another origin. The response is
  /// refused while a transaction of the browser runs, unless it is for an observed client; otherwise it passes.
  private func handedElsewhere() -> Response? {
    let locations = intercepted.gateway.snapshot.locations
    let head = withheld.response
    let destinations = head.headers.all("Location") + head.secondaryDestinations
    let handed = destinations.filter(locations.leavesWithCode)
    guard !handed.isEmpty, !destinations.contains(where: locations.leaksAuthorizationResponse) else { return nil }
    let isLive = intercepted.session().map { $0.liveUntil > intercepted.now } ?? false
    if isLive, !handed.allSatisfy(intercepted.isForObservedClient) {
      return intercepted.respond(with: .here(.responseToOtherURI))
    }
    intercepted.trail.mode = EnforcementMode.observe.rawValue
    for location in handed where intercepted.trail.observed == nil {
      intercepted.trail.observed = intercepted.gateway.noteObserved(location: location)
    }
    return passed(head)
  }

  private func unlisted(_ transaction: AuthorizationTransaction? = nil) -> Response {
    intercepted.respond(with: .here(.responseUnlisted), transaction: transaction)
  }

  /// Returns the redirect as the upstream sent it, without the body, which browsers do not show.
  private func passed(_ head: Response) -> Response {
    var response = Response(status: head.status, headers: head.headers)
    response.headers.remove("Set-Cookie")
    response.headers.remove("Content-Encoding")
    UpstreamPageHeaders.harden(&response, isSecure: intercepted.policy.gateway.origin.scheme == .https)
    return response
  }
}
