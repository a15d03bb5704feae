import Proxy
import TLS
import Telemetry

/// Counts the limits that are reached, and records the failures of the upstream and the requests that ended.
final class CountedLimits: ProxyMetrics {
  private(set) var counts: [LimitKind: Int] = [:]
  private(set) var failures: [UpstreamFailure] = []
  private(set) var grpcCalls = 0
  private(set) var statuses: [Int] = []
  private(set) var pauses = 0

  func requestFinished(_ handling: RequestHandling, status: Int, nanoseconds: UInt64) { statuses.append(status) }
  func upstreamAnswered(nanoseconds: UInt64) {}
  func upstreamFailed(_ failure: UpstreamFailure) { failures.append(failure) }
  func grpcRefused() { grpcCalls += 1 }
  func recordLimit(_ limit: LimitKind) { counts[limit, default: 0] += 1 }
  func handshakeFinished(_ outcome: HandshakeOutcome) {}
  func upstreamHandshakeFailed(_ failure: TLSFailure) {}
  func connectionOpened() {}
  func connectionClosed() {}
  func http2ConnectionOpened() {}
  func http2StreamOpened() {}
  func upstreamConnectionOpened() {}
  func upstreamConnectionClosed() {}
  func acceptingPaused() { pauses += 1 }
  func acceptingResumed() {}
}
