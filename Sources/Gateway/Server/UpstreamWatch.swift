import Proxy
import Synchronization

/// Informs the operator when requests begin to fail because the upstream does not accept connections, and when it
/// accepts them again.
public final class UpstreamWatch: Sendable {
  private let isAway = Atomic<Bool>(false)
  private let notices: OperatorNotices

  init(_ notices: OperatorNotices) {
    self.notices = notices
  }

  /// Records that the operator was informed that the upstream does not accept connections.
  public func wasFoundAway() {
    isAway.store(true, ordering: .relaxed)
  }

  /// Records a request that the upstream did not answer.
  func failed(_ failure: UpstreamFailure) {
    let text: String
    switch failure {
    case .unreachable: text = "the upstream does not accept connections, or its name has no address; clients get 503"
    case .connectTimeout: text = "the upstream accepts no connection within `connect_timeout`; clients get 504"
    // Reported elsewhere with its reason, or no sign of an unavailable upstream.
    case .insecure, .busy, .responseTimeout, .reset, .malformed, .unsendable, .clientGone: return
    }
    isAway.store(true, ordering: .relaxed)
    notices.report(text)
  }

  /// Records that a connection was opened.
  func connected() {
    guard isAway.load(ordering: .relaxed) else { return }
    // If the notice follows another one too soon, a later connection reports it.
    if notices.report("the upstream accepts connections again") { isAway.store(false, ordering: .relaxed) }
  }
}
