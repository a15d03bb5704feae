/// A limit that a client, a request or the gateway itself ran into. The raw values are labels of a metric, and the names
/// of the settings where there is one.
public enum LimitKind: String, Sendable, CaseIterable {
  case headerBytes = "header_bytes"
  case headerFields = "header_fields"
  case targetLength = "target_length"
  /// Of an intercepted request.
  case body
  case headerTimeout = "header_timeout"
  case bodyTimeout = "body_timeout"
  case idleTimeout = "idle_timeout"
  case requestTimeout = "request_timeout"
  case minimumRate = "minimum_rate"
  case connections
  case connectionsPerAddress = "connections_per_address"
  case requestsPerConnection = "requests_per_connection"
  /// Streams of an HTTP/2 connection.
  case concurrentStreams = "concurrent_streams"
  case streamResets = "stream_resets"
  case controlFrames = "control_frames"
  /// A section that comes in very many frames, or grows without end when it is decoded.
  case fieldSections = "field_sections"
  /// TLS records without application data: KeyUpdates.
  case keyUpdates = "key_updates"
  case bufferMemory = "max_buffer_memory"
  /// No place among the upstream's connections came free in time.
  case upstreamConnections = "max_connections"
  case connectTimeout = "connect_timeout"
  case responseTimeout = "response_timeout"
  /// A peer that must not, or does not properly, speak the PROXY protocol.
  case proxyProtocol = "proxy_protocol"
  case tokenRequestsPerClient = "token_requests_per_client"
  case tokenRequestsPerAddress = "token_requests_per_address"

  /// The case's place in the order.
  var index: Int { LimitKind.allCases.firstIndex(of: self) ?? 0 }
}
