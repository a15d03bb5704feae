/// A limit that a client, a request or the gateway itself can reach. The raw values are labels of a metric. If a
/// setting configures the limit, the raw value is the name of the setting.
public enum LimitKind: String, Sendable, CaseIterable {
  /// The size of a request's header section, in bytes.
  case headerBytes = "header_bytes"
  /// The number of header fields of a request.
  case headerFields = "header_fields"
  /// The length of a request target, in bytes.
  case targetLength = "target_length"
  /// The size of the body of a request, in bytes: of an intercepted one, or of one whose route has a limit.
  case body
  /// The time in which a client must send a header section.
  case headerTimeout = "header_timeout"
  /// The maximum time without progress of a body, in either direction.
  case bodyTimeout = "body_timeout"
  /// The maximum time without traffic on a connection that has switched to another protocol.
  case tunnelTimeout = "tunnel_timeout"
  /// The time between two requests on a connection.
  case idleTimeout = "idle_timeout"
  /// The time that a whole request may take.
  case requestTimeout = "request_timeout"
  /// The lowest rate at which a client may send or receive a body.
  case minimumRate = "minimum_rate"
  /// The number of connections from clients.
  case connections
  /// The number of connections from one client address.
  case connectionsPerAddress = "connections_per_address"
  /// The number of requests in progress from one client address while few upstream connections are free.
  case requestsPerAddress = "requests_per_address"
  /// The processor time that the expensive requests of one client address may take. It has no setting.
  case processorTimePerAddress = "processor_time_per_address"
  /// The number of requests on one connection.
  case requestsPerConnection = "requests_per_connection"
  /// The number of open streams on an HTTP/2 connection.
  case concurrentStreams = "concurrent_streams"
  /// The number of streams that an HTTP/2 client resets.
  case streamResets = "stream_resets"
  /// The number of frames that an HTTP/2 client sends without data or requests, such as PING and SETTINGS.
  case controlFrames = "control_frames"
  /// The number of frames of an HTTP/2 field section, or its size after decoding.
  case fieldSections = "field_sections"
  /// The number of consecutive TLS records without application data, such as KeyUpdate.
  case keyUpdates = "key_updates"
  /// The memory for all buffers, in bytes.
  case bufferMemory = "max_buffer_memory"
  /// The number of connections to the upstream. Reached if all are in use and none becomes free in time.
  case upstreamConnections = "max_connections"
  /// The time that connecting to the upstream may take.
  case connectTimeout = "connect_timeout"
  /// The time in which the upstream must respond.
  case responseTimeout = "response_timeout"
  /// Not a numeric limit: on a listener with the PROXY protocol, the peer is not a trusted proxy, or it sends no valid
  /// PROXY header in time.
  case proxyProtocol = "proxy_protocol"
  /// The rate of token requests of one client.
  case tokenRequestsPerClient = "token_requests_per_client"
  /// The rate of token requests from one address.
  case tokenRequestsPerAddress = "token_requests_per_address"
  /// The rate of client registrations from one network.
  case registrationsPerNetwork = "registrations_per_network"
  /// The rate of client registrations from all networks.
  case registrations = "registrations"

  /// The position in `allCases`.
  var index: Int { LimitKind.allCases.firstIndex(of: self) ?? 0 }
}
