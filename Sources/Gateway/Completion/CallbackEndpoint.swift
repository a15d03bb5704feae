import Enforcement
import HTTP
import OAuth
import Policy
import Stores

/// The gateway's callback, for answers that reach it over the network (`callback: network`).
struct CallbackEndpoint {
  private let exchange: Interception

  init(_ exchange: Interception) {
    self.exchange = exchange
  }

  func respond() async -> Response {
    // A closed callback still sends an error to the app of a known transaction, because nothing else would.
    let unreadable: Rejection = exchange.policy.upstream.callback == .network ? .answerUnusable : .callbackClosed
    guard let parameters = parameters() else { return exchange.answer(.here(unreadable)) }
    let answer = UpstreamAnswer(atCallback: parameters)
    guard let state = answer.state else { return exchange.answer(.here(unreadable)) }
    do throws(StoreError) {
      switch try await exchange.gateway.states.open(state, now: exchange.now) {
      case .keyUnknown: return exchange.answer(.here(.codeKeyUnknown))
      case .invalid: return exchange.answer(.here(unreadable))
      case .value(let transaction):
        let browserMatches = exchange.session()?.isBound(to: transaction.browserSecretHash) ?? false
        return await exchange.finish(answer, transaction, browserMatches: browserMatches)
      }
    } catch {
      return exchange.answer(.here(.storeUnavailable))
    }
  }

  /// The parameters of the query, or of a form post; not both.
  private func parameters() -> FormParameters? {
    let request = exchange.request
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
