import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Stores

/// An answer of the upstream in the response to a request at a path that is no endpoint (`I-completion`).
///
/// Many servers keep the authorization request in their session and redirect to the client from the path of their login or
/// consent page. Such an answer is completed under the conditions that hold at the authorization endpoint.
struct PassingAnswer {
  private let exchange: Interception
  private let withheld: WithheldResponse

  init(_ exchange: Interception, _ withheld: WithheldResponse) {
    self.exchange = exchange
    self.withheld = withheld
  }

  /// Returns the response for the browser. The cookies of the upstream, such as a session that begins, still reach it.
  func respond() async -> Response {
    var response = await answer()
    for field in exchange.cookies(of: withheld.response) { response.headers.append("Set-Cookie", field) }
    return response
  }

  private func answer() async -> Response {
    let head = withheld.response
    guard let location = head.headers.only("Location") else { return handedElsewhere() ?? unlisted() }
    let isRedirect = (300..<400).contains(head.status)
    guard isRedirect, !leadsElsewhere, let answer = UpstreamAnswer(location: exchange.absolute(location)),
      let state = answer.state
    else { return handedElsewhere() ?? unlisted() }
    do throws(StoreError) {
      switch try await exchange.gateway.states.open(state, now: exchange.now) {
      case .value(let transaction): return await complete(answer, transaction)
      case .keyUnknown: return exchange.answer(.here(.codeKeyUnknown))
      // A state of the app's own that looks like a handle, with an error for the app.
      case .invalid where !exchange.gateway.snapshot.locations.isAnswer(location):
        return handedElsewhere() ?? passed(head)
      case .invalid: return unlisted()
      }
    } catch {
      return exchange.answer(.here(.storeUnavailable))
    }
  }

  private func complete(_ answer: UpstreamAnswer, _ transaction: AuthorizationTransaction) async -> Response {
    let isBound = exchange.session()?.isBound(to: transaction.browserSecretHash) ?? false
    // A code could be in the part of the request that is not known.
    guard withheld.isComplete || !isBound else { return unlisted(transaction) }
    return await exchange.finish(answer, transaction, browserMatches: isBound)
  }

  /// True if another field hands out a code or token as well.
  private var leadsElsewhere: Bool {
    withheld.response.secondaryDestinations.contains(where: exchange.gateway.snapshot.locations.isAnswer)
  }

  /// Returns the response if the only reason to withhold the upstream's is a code for another origin. It is refused while a
  /// transaction of the browser runs, unless it is for an observed client; otherwise it passes.
  private func handedElsewhere() -> Response? {
    let locations = exchange.gateway.snapshot.locations
    let head = withheld.response
    let destinations = head.headers.all("Location") + head.secondaryDestinations
    let handed = destinations.filter(locations.leavesWithCode)
    guard !handed.isEmpty, !destinations.contains(where: locations.isAnswer) else { return nil }
    let isLive = exchange.session().map { $0.liveUntil > exchange.now } ?? false
    if isLive, !handed.allSatisfy(exchange.isForObservedClient) { return exchange.answer(.here(.answerElsewhere)) }
    exchange.trail.mode = Mode.observe.rawValue
    for location in handed where exchange.trail.observed == nil {
      exchange.trail.observed = exchange.gateway.noteObserved(location: location)
    }
    return passed(head)
  }

  private func unlisted(_ transaction: AuthorizationTransaction? = nil) -> Response {
    exchange.answer(.here(.responseUnlisted), transaction: transaction)
  }

  /// The redirect as the upstream sent it, without the body that browsers do not show.
  private func passed(_ head: Response) -> Response {
    var response = Response(status: head.status, headers: head.headers)
    response.headers.remove("Set-Cookie")
    response.headers.remove("Content-Encoding")
    InteractionPage.protect(&response, isSecure: exchange.policy.gateway.origin.scheme == .https)
    return response
  }
}
