import Proxy
import Telemetry

/// Carries what the proxy counts into one worker's metrics.
final class GatewayMetrics: ProxyMetrics {
  private let metrics: WorkerMetrics

  init(_ metrics: WorkerMetrics) {
    self.metrics = metrics
  }

  func requestFinished(_ handling: RequestHandling, status: Int, nanoseconds: UInt64) {
    let kind: Handling =
      switch handling {
      case .passed: .pass
      case .intercepted: .forward
      case .answered: .answer
      case .refused: .refuse
      }
    metrics.requestFinished(kind, status: status, durationNanoseconds: nanoseconds)
  }

  func upstreamFailed(_ failure: UpstreamFailure) {
    let kind: UpstreamErrorKind =
      switch failure {
      case .unreachable: .refused
      case .busy: .busy
      case .connectTimeout, .responseTimeout: .timeout
      case .reset: .reset
      case .malformed, .unsendable: .protocol
      case .clientGone: .reset
      }
    metrics.upstreamFailed(kind)
  }

  func limited(_ limit: LimitKind) { metrics.limited(limit) }
  func connectionOpened() { metrics.connectionAccepted() }
  func connectionClosed() { metrics.connectionClosed() }
}
