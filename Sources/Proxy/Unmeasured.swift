public import TLS
public import Telemetry

/// Counts nothing: for the admin listener and the demo's servers.
public final class Unmeasured: ProxyMetrics {
  public init() {}

  public func requestFinished(_ handling: RequestHandling, status: Int, nanoseconds: UInt64) {}
  public func upstreamAnswered(nanoseconds: UInt64) {}
  public func upstreamFailed(_ failure: UpstreamFailure) {}
  public func grpcRefused() {}
  public func limited(_ limit: LimitKind) {}
  public func handshakeFinished(_ outcome: HandshakeOutcome) {}
  public func upstreamHandshakeFailed(_ failure: TLSFailure) {}
  public func connectionOpened() {}
  public func connectionClosed() {}
  public func http2ConnectionOpened() {}
  public func http2StreamOpened() {}
  public func upstreamConnectionOpened() {}
  public func upstreamConnectionClosed() {}
  public func acceptingPaused() {}
  public func acceptingResumed() {}
}
