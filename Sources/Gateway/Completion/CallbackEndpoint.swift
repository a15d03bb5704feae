import Enforcement
import HTTP
import OAuth
import Policy
import Stores

/// The gateway's callback, which is its redirect URI at the upstream. With the setting `callback: network`, this
/// endpoint completes authorization responses that the upstream sends through the browser. With `callback: in_place`,
/// the gateway completes them before they reach the browser.
struct CallbackEndpoint {
  private let intercepted: InterceptedRequest

  init(_ intercepted: InterceptedRequest) {
    self.intercepted = intercepted
  }

  func respond() async -> Response {
    // With `callback: in_place` this endpoint refuses every response. If the request has the state of a transaction,
    // `completeOrRefuse` sends the refusal to the app, which would otherwise wait without a response.
    let acceptsResponses = intercepted.policy.upstream.callback == .atCallback
    let rejection: Rejection = acceptsResponses ? .upstreamResponseUnusable : .callbackClosed
    guard let parameters = parameters() else { return intercepted.respond(with: .withoutRedirect(rejection)) }
    let authorizationResponse = UpstreamAuthorizationResponse(atCallback: parameters)
    intercepted.chargeWork()
    guard let state = authorizationResponse.state else { return intercepted.respond(with: .withoutRedirect(rejection)) }
    do throws(StoreError) {
      switch try await intercepted.gateway.states.open(state, now: intercepted.now) {
      case .keyUnknown: return intercepted.respond(with: .withoutRedirect(.sealingKeyUnknown))
      case .invalid: return intercepted.respond(with: .withoutRedirect(rejection))
      case .value(let transaction):
        let browserMatches = intercepted.session()?.isBound(to: transaction.browserSecretHash) ?? false
        return await intercepted.completeOrRefuse(authorizationResponse, transaction, browserMatches: browserMatches)
      }
    } catch {
      return intercepted.respond(with: .withoutRedirect(.storeUnavailable))
    }
  }

  /// Returns the parameters in the query of a GET or HEAD request, or in the form of a POST request. Returns `nil` for
  /// a GET or HEAD with a body, a POST with a query or without a form, other methods, and malformed parameters.
  private func parameters() -> FormParameters? {
    let request = intercepted.request
    let inQuery = FormParameters(parsing: request.query ?? "")
    switch request.method {
    case "GET", "HEAD": return request.body.isEmpty ? inQuery : nil
    case "POST":
      let isForm = FormContent.isForm(
        types: request.headers.all("Content-Type"), encodings: request.headers.all("Content-Encoding"))
      guard isForm, inQuery?.isEmpty ?? false else { return nil }
      return FormParameters(parsing: request.body)
    default: return nil
    }
  }
}
