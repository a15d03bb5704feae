import Enforcement
import HTTP
import Policy
import Proxy
import Telemetry

/// Requests whose decision the log must have (`log_overflow: refuse`).
extension Gateway {
  /// True if no line may be dropped.
  var keepsAllLines: Bool { policy.gateway.logOverflow == .refuse }

  /// Reserves room for the line of a request. Returns false if there is none and no line may be dropped: the request
  /// must be refused.
  func reserveLine() -> Bool { !keepsAllLines || resources.log.reserve(worker: worker) }

  /// Ends the reservation.
  func releaseLine() {
    if keepsAllLines { resources.log.release(worker: worker) }
  }

  /// Calls `body`, which appends a line. If no line may be dropped and there is no room, refuses the request instead.
  func withLine(_ client: ClientFacts, _ form: ErrorForm, _ body: () -> Route) -> Route {
    guard reserveLine() else {
      countUnlogged(at: .otherPath)
      let pages = pages.naming(request: requestID(client.reference))
      return .refuse(pages.marked(pages.error(ErrorPage(.logUnavailable), as: form)))
    }
    defer { releaseLine() }
    return body()
  }

  /// Returns the refusal of an intercepted request for which the log has no room, in the form of its endpoint.
  func refuseUnlogged(_ intercepted: InterceptedRequest) -> Response {
    countUnlogged(at: intercepted.trail.endpoint)
    let refusal = RejectionResponse.withoutRedirect(.logUnavailable)
    var response =
      switch intercepted.trail.endpoint {
      case .token, .revocation, .introspection, .device, .registration, .pushedAuthorization:
        intercepted.tokenRejection(refusal)
      case .authorization, .callback, .consent, .deviceVerification, .response:
        intercepted.respond(with: refusal)
      case .check, .metadata, .rulePages, .otherPath:
        intercepted.pages.error(ErrorPage(.logUnavailable), as: ErrorForm(intercepted.request.headers))
      }
    response.headers.set(RequestReference.fieldName, intercepted.trail.requestID)
    return response
  }
}
