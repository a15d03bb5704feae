import Admin
import Gateway
import Policy
import Proxy
import Reactor
import TLS

/// Tests once, after the start, whether the upstream accepts connections, and warns the operator if it does not. The
/// result is a warning and not an error, because the upstream may start later than the gateway. The failure is also
/// recorded in the `UpstreamWatch`, which informs the operator when the upstream accepts connections again.
final class UpstreamNotice: Activity {
  private let url: String
  private let probe: UpstreamProbe
  private let watch: UpstreamWatch

  init(_ poller: Poller, _ upstream: UpstreamSettings, _ tls: TLSClient?, _ watch: UpstreamWatch) {
    url = upstream.urls
    self.watch = watch
    probe = UpstreamProbe(poller, UpstreamServers(upstream.locations)) { tls }
  }

  func run() async {
    guard let problem = await probe.findProblem() else { return }
    watch.recordUnreachable()
    Console.warn("upstream \(url) cannot be reached: \(problem); the gateway is not ready until it answers")
  }
}
