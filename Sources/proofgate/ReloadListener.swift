import Admin
import Reactor

/// Waits for requests of the admin listener to reload the policy.
final class ReloadListener: Activity {
  private let poller: Poller
  private let requests: ReloadRequests
  private let reload: () -> Void

  init(_ poller: Poller, _ requests: ReloadRequests, _ reload: @escaping () -> Void) {
    self.poller = poller
    self.requests = requests
    self.reload = reload
  }

  func run() async {
    while await requests.waitForRequest(on: poller) { reload() }
  }
}
