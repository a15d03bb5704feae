import Proxy
import Synchronization

/// Informs the operator when requests begin to fail because the upstream does not accept connections, and when the
/// upstream accepts connections again.
public final class UpstreamWatch: Sendable {
  private let isUnreachable = Atomic<Bool>(false)
  private let notices: OperatorNotices

  init(_ notices: OperatorNotices) {
    self.notices = notices
  }

  /// Records that the upstream does not accept connections. The caller has already informed the operator.
  public func recordUnreachable() {
    isUnreachable.store(true, ordering: .relaxed)
  }

  /// Records a request that failed, and informs the operator if the upstream did not accept a connection for it.
  func recordFailure(_ failure: UpstreamFailure) {
    let text: String
    switch failure {
    case .unreachable: text = "the upstream does not accept connections, or its name has no address; clients get 503"
    case .connectTimeout: text = "the upstream accepts no connection within `connect_timeout`; clients get 504"
    // `GatewayMetrics` reports `insecure` with its reason. The other failures do not show that the upstream refuses
    // connections.
    case .insecure, .poolExhausted, .responseTimeout, .reset, .malformed, .unsendable, .outOfMemory, .clientGone: return
    }
    isUnreachable.store(true, ordering: .relaxed)
    notices.report(text)
  }

  /// Records that a connection to the upstream was opened.
  func recordConnection() {
    guard isUnreachable.load(ordering: .relaxed) else { return }
    // The same notice is shown at most once a minute. If it is not shown now, a later connection tries again.
    if notices.report("the upstream accepts connections again") { isUnreachable.store(false, ordering: .relaxed) }
  }
}
