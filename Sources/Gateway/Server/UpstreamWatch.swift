import Proxy
import Synchronization

/// Tells the operator when requests begin to fail because the upstream does not accept connections, and when it does again.
public final class UpstreamWatch: Sendable {
  private let isAway = Atomic<Bool>(false)
  private let notices: OperatorNotices

  init(_ notices: OperatorNotices) {
    self.notices = notices
  }

  /// True after the operator was informed that the upstream does not accept connections.
  public func wasFoundAway() {
    isAway.store(true, ordering: .relaxed)
  }

  /// A request was not answered.
  func failed(_ failure: UpstreamFailure) {
    let text: String
    switch failure {
    case .unreachable: text = "the upstream does not accept connections, or its name has no address; clients get 503"
    case .connectTimeout: text = "the upstream accepts no connection within `connect_timeout`; clients get 504"
    // Said with its reason, or no sign of an upstream that is away.
    case .insecure, .busy, .responseTimeout, .reset, .malformed, .unsendable, .clientGone: return
    }
    isAway.store(true, ordering: .relaxed)
    notices.report(text)
  }

  /// A connection was opened.
  func connected() {
    guard isAway.load(ordering: .relaxed) else { return }
    // If the notice comes too soon after another one, a later connection gives it.
    if notices.report("the upstream accepts connections again") { isAway.store(false, ordering: .relaxed) }
  }
}
