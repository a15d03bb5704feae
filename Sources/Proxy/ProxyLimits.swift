public import HTTP1
import Reactor
public import Time

/// The limits on what one client, one request and all clients together may use; `docs/policy.md` gives the reasons.
public struct ProxyLimits: Sendable {
  /// The size limits of a request head.
  public var head = HeadLimits.standard
  /// The size limits of a response head of the upstream; `target` has no effect.
  public var responseHead = HeadLimits.standard
  /// The maximum number of client connections of the process.
  public var connections = 65_536
  /// The maximum number of connections of one IPv4 address or one /64 prefix of IPv6.
  public var connectionsPerAddress = 1_024
  /// The maximum number of upstream connections of this worker that the passing requests of one IPv4 address or one /64
  /// prefix of IPv6 may hold while few connections are free (`UpstreamPool.holdsTooMany`). If `nil`, the maximum is
  /// half of the connections that passing requests may use, but at least `minimumRequestsPerAddress`.
  public var requestsPerAddress: Int?
  /// The lowest maximum if `requestsPerAddress` is `nil`: one HTTP/2 connection of a browser may have as many
  /// concurrent requests.
  static let minimumRequestsPerAddress = 100
  /// The maximum number of requests on one connection.
  public var requestsPerConnection = 10_000
  /// The maximum time from a request's head to its response's last byte.
  public var requestTimeout: Milliseconds = 3_600_000
  /// The maximum number of body bytes of a passing request that are received before the request takes an upstream
  /// connection; 0 to pass each byte on at once.
  public var requestBuffer = Buffer.readSize
  /// The maximum number of body bytes of a passing request with the handler's own cookie that are kept for the handler
  /// until the response begins (`WithheldResponse`).
  public var requestCopy = 512 * 1024
  /// The minimum rate in bytes per second at which a client must read or send while the gateway waits only for this
  /// client; 0 for no minimum.
  public var minimumRate = 500
  /// The window over which `minimumRate` is measured: long enough for a link to recover from a stall of some seconds.
  public var rateWindow: Milliseconds = 20_000
  /// The time for which an HTTP/2 client may accept its responses more slowly than `minimumRate` while memory is short:
  /// longer than a round trip and a retransmission.
  public var creditWindow: Milliseconds = 5_000
  /// The maximum number of bytes that buffers and bodies may use in this worker.
  public var bufferMemory = 256 * 1024 * 1024
  /// The number of upstream connections of this worker reserved for intercepted requests; passing requests may not use
  /// them.
  public var reservedUpstreamConnections = 0

  /// The default limits.
  public init() {}
}
