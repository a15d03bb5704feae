public import TLS
public import Telemetry

/// Metrics that count nothing, for the admin listener and the demo's servers.
public final class NoMetrics: ProxyMetrics {
  /// Creates metrics without state.
  public init() {}

  /// Does nothing.
  public func requestFinished(_ handling: RequestHandling, status: Int, nanoseconds: UInt64) {}
  /// Does nothing.
  public func upstreamAnswered(nanoseconds: UInt64) {}
  /// Does nothing.
  public func upstreamFailed(_ failure: UpstreamFailure) {}
  /// Does nothing.
  public func grpcRefused() {}
  /// Does nothing.
  public func recordLimit(_ limit: LimitKind) {}
  /// Does nothing.
  public func handshakeFinished(_ outcome: HandshakeOutcome) {}
  /// Does nothing.
  public func upstreamHandshakeFailed(_ failure: TLSFailure) {}
  /// Does nothing.
  public func connectionOpened() {}
  /// Does nothing.
  public func connectionClosed() {}
  /// Does nothing.
  public func http2ConnectionOpened() {}
  /// Does nothing.
  public func http2StreamOpened() {}
  /// Does nothing.
  public func upstreamConnectionOpened() {}
  /// Does nothing.
  public func upstreamConnectionClosed() {}
  /// Does nothing.
  public func acceptingPaused() {}
  /// Does nothing.
  public func acceptingResumed() {}
}
