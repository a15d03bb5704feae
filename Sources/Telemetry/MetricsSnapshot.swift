/// All numbers at one moment, summed over the workers.
public struct MetricsSnapshot: Equatable, Sendable {
  public internal(set) var requests: [Handling: UInt64] = [:]
  public internal(set) var durations: [Handling: HistogramSnapshot] = [:]
  /// By the status's first digit; 0 counts requests that got no response.
  public internal(set) var responses = [UInt64](repeating: 0, count: 6)
  public internal(set) var upstreamDurations = HistogramSnapshot()
  public internal(set) var upstreamErrors: [UpstreamErrorKind: UInt64] = [:]
  public internal(set) var limits: [LimitKind: UInt64] = [:]
  public internal(set) var connectionsAccepted: UInt64 = 0
  /// Open ones.
  public internal(set) var connections: UInt64 = 0
  /// TLS handshakes with clients, the resumed ones among them.
  public internal(set) var handshakes: UInt64 = 0
  public internal(set) var resumptions: UInt64 = 0
  public internal(set) var failedHandshakes: UInt64 = 0
  public internal(set) var upstreamConnections: UInt64 = 0
  public internal(set) var upstreamConnectionsOpened: UInt64 = 0
  public internal(set) var http2Connections: UInt64 = 0
  public internal(set) var http2Streams: UInt64 = 0
  /// Fields of observed requests that did not go upstream, because only a trusted proxy may send them.
  public internal(set) var identityFieldsDropped: UInt64 = 0
  /// How often accepting began to pause, and on how many listeners, each worker's counted, it pauses now.
  public internal(set) var acceptPauses: UInt64 = 0
  public internal(set) var listenersPaused: UInt64 = 0
  public internal(set) var workers = 0
  public internal(set) var workersStalled = 0
  public internal(set) var decisions: [DecisionLabels: UInt64] = [:]
  public internal(set) var policyVersion = ""
  public internal(set) var policyReloads: UInt64 = 0
  public internal(set) var policyReloadFailures: UInt64 = 0
  public internal(set) var certificates: [CertificateExpiry] = []
  public internal(set) var store: [StoreSeries] = []
  public internal(set) var logLinesDropped: UInt64 = 0
  public internal(set) var logWriteFailures: UInt64 = 0
}
