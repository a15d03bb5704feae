import Proxy
import TLS
import Telemetry

/// Counts the proxy's events in the metrics of one worker, and informs the operator of some of them.
final class GatewayMetrics: ProxyMetrics {
  private let metrics: WorkerMetrics
  private let notices: OperatorNotices
  private let upstreamWatch: UpstreamWatch

  init(_ metrics: WorkerMetrics, _ notices: OperatorNotices, _ upstreamWatch: UpstreamWatch) {
    self.metrics = metrics
    self.notices = notices
    self.upstreamWatch = upstreamWatch
  }

  func requestFinished(_ handling: RequestHandling, status: Int, nanoseconds: UInt64) {
    // The metric counts a request that the handler answered as `forward`, because rules have judged the request. The
    // gateway may have answered the request without the upstream.
    let kind: Handling =
      switch handling {
      case .passed: .pass
      case .handlerResponse: .forward
      case .routeResponse: .answer
      case .refused: .refuse
      }
    metrics.requestFinished(kind, status: status, durationNanoseconds: nanoseconds)
  }

  func upstreamAnswered(nanoseconds: UInt64) { metrics.upstreamAnswered(nanoseconds: nanoseconds) }

  func upstreamFailed(_ failure: UpstreamFailure) {
    let kind: UpstreamErrorKind? =
      switch failure {
      case .unreachable: .refused
      case .poolExhausted: .busy
      // `ProxyWorker` counts the buffer as `max_buffer_memory`.
      case .outOfMemory: nil
      case .connectTimeout, .responseTimeout: .timeout
      case .reset: .reset
      case .malformed, .unsendable: .protocol
      case .clientGone: .reset
      case .insecure: .tls
      }
    if let kind { metrics.upstreamFailed(kind) }
    upstreamWatch.recordFailure(failure)
  }

  func grpcRefused() {
    notices.report("gRPC calls are refused: gRPC needs HTTP/2 up to the server, and the gateway speaks HTTP/1.1 to it")
  }

  func handshakeFinished(_ outcome: HandshakeOutcome) {
    switch outcome {
    case .full: metrics.handshakeFinished(isResumed: false)
    case .resumed: metrics.handshakeFinished(isResumed: true)
    case .failed: metrics.handshakeFailed()
    }
  }

  func upstreamHandshakeFailed(_ failure: TLSFailure) {
    notices.report("no TLS connection to the upstream: \(failure)")
  }

  func recordLimit(_ limit: LimitKind) { metrics.recordLimit(limit) }
  func connectionOpened() { metrics.connectionAccepted() }
  func connectionClosed() { metrics.connectionClosed() }
  func http2ConnectionOpened() { metrics.http2ConnectionOpened() }
  func http2StreamOpened() { metrics.http2StreamOpened() }
  func upstreamConnectionOpened() {
    metrics.upstreamConnectionOpened()
    upstreamWatch.recordConnection()
  }

  func upstreamCheckChanged(_ address: String, problem: String?) {
    notices.report(
      problem.map {
        "the server at \(address) fails its health check (\($0)); requests avoid it while another is in service"
      }
        ?? "the server at \(address) passes its health check again")
  }

  func upstreamConnectionClosed() { metrics.upstreamConnectionClosed() }
  func acceptingPaused() { metrics.acceptingPaused() }
  func acceptingResumed() { metrics.acceptingResumed() }
}
