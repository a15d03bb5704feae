import Enforcement
import HTTP
import OAuth
import Policy
import Stores

/// The gateway's callback: the redirect URI that the upstream knows. With `callback: network`, browsers come here with
/// the authorization responses of the upstream.
struct CallbackEndpoint {
  private let intercepted: InterceptedRequest

  init(_ intercepted: InterceptedRequest) {
    self.intercepted = intercepted
  }

  func respond() async -> Response {
    // With `callback: in_place` this endpoint completes no response. It still sends an error to the app if it knows the
    // transaction, because the app would otherwise get no response.
    let unreadable: Rejection = intercepted.policy.upstream.callback == .network ? .answerUnusable : .callbackClosed
    guard let parameters = parameters() else { return intercepted.respond(with: .here(unreadable)) }
    let answer = UpstreamAuthorizationResponse(atCallback: parameters)
    guard let state = answer.state else { return intercepted.respond(with: .here(unreadable)) }
    do throws(StoreError) {
      switch try await intercepted.gateway.states.open(state, now: intercepted.now) {
      case .keyUnknown: return intercepted.respond(with: .here(.codeKeyUnknown))
      case .invalid: return intercepted.respond(with: .here(unreadable))
      case .value(let transaction):
        let browserMatches = intercepted.session()?.isBound(to: transaction.browserSecretHash) ?? false
        return await intercepted.finish(answer, transaction, browserMatches: browserMatches)
      }
    } catch {
      return intercepted.respond(with: .here(.storeUnavailable))
    }
  }

  /// Returns the parameters of the query of a GET or of the form in a POST. Returns `nil` for a GET with a body, a POST
  /// with a query, and any other request.
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
