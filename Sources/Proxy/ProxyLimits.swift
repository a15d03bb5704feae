public import HTTP1

/// The limits on what one client, one request and all clients together may use; `docs/policy.md` gives the reasons.
public struct ProxyLimits: Sendable {
  public var head = HeadLimits.standard
  /// Connections of the process.
  public var connections = 65_536
  /// Connections of one address; of an IPv6 address the first 64 bits count.
  public var connectionsPerAddress = 1_024
  public var requestsPerConnection = 10_000
  /// Milliseconds from a request's head to its response's last byte.
  public var requestTimeout = 3_600_000
  /// Bytes a second that a client takes or gives while nothing else is waited for; 0: any.
  public var minimumRate = 500
  /// Milliseconds over which `minimumRate` is measured: a link that stalls for some seconds recovers.
  public var rateWindow = 20_000
  /// Milliseconds for which an HTTP/2 connection may hold responses without taking `minimumRate` of them while memory is
  /// short: longer than a round trip and a retransmission.
  public var creditWindow = 5_000
  /// Bytes that buffers and bodies may take in this worker.
  public var bufferMemory = 256 * 1024 * 1024
  /// Upstream connections of this worker that requests that pass must leave to others.
  public var reservedUpstreamConnections = 0

  public init() {}
}
