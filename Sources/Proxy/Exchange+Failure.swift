import HTTP
import HTTP1
import Reactor
import Telemetry

/// The end of an exchange that failed.
extension Exchange {
  func fail(_ failure: Failure, _ head: RequestHead) async {
    let form = server.state.hasStartedResponse ? .page : errorForm(head)
    clear()
    dropUnsentBody()
    if case .upstream(let error) = failure { worker.metrics.upstreamFailed(error) }
    if let limit = limit(of: failure) { worker.metrics.limited(limit) }
    if server.state.hasStartedResponse {
      server.state.cutResponse()
      worker.metrics.requestFinished(
        .passed, status: status, nanoseconds: Clock.monotonicNanoseconds() - began)
      return
    }
    if keepsHead {
      fromClient.consume(head.length)
      keepsHead = false
    }
    let answer: ProxyFailure
    switch failure {
    case .client: return
    case .clientTimeout, .tooSlow: answer = .timeout
    case .tooLong: answer = uploadEnded ? .upstream(.responseTimeout) : .timeout
    case .request(let error): answer = .request(error)
    case .upstream(let error): answer = .upstream(error)
    case .stale: answer = .upstream(.reset)
    case .withheld: answer = .upstream(.malformed("an answer that is withheld"))
    }
    await server.answer(
      worker.handler.failure(answer, as: form), to: head.method, minorVersion: head.minorVersion, began: began,
      .refused)
  }

  /// The form of the error; that for people where the head of the request is not kept, as that of an intercepted one.
  private func errorForm(_ head: RequestHead) -> ErrorForm {
    keepsHead || !held.head.isEmpty ? ErrorForm(request(head).headers) : .page
  }

  private func limit(of failure: Failure) -> LimitKind? {
    switch failure {
    case .clientTimeout: .bodyTimeout
    case .tooSlow: .minimumRate
    case .tooLong: .requestTimeout
    case .upstream(let error): ProxyFailure.upstream(error).limit(in: .body)
    case .client, .request, .stale, .withheld: nil
    }
  }
}
