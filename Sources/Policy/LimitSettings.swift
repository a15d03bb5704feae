/// What one client, one request and all together may use (`limits:` in the policy file).
public struct LimitSettings: Sendable, Equatable {
  /// Bytes.
  public var headerBytes = 16 * 1024
  public var headerFields = 100
  /// Bytes.
  public var targetLength = 8 * 1024
  /// Bytes.
  public var body = 64 * 1024
  /// Milliseconds.
  public var headerTimeout = 10_000
  /// Milliseconds.
  public var bodyTimeout = 60_000
  /// Milliseconds.
  public var idleTimeout = 75_000
  /// Milliseconds.
  public var requestTimeout = 3_600_000
  /// Bytes a second; 0: any.
  public var minimumRate = 500
  public var connections = 65_536
  public var connectionsPerAddress = 1_024
  public var requestsPerConnection = 10_000
  public var concurrentStreams = 100
  public var streamResets = 100
  public var controlFrames = 1_000
  /// Bytes; `nil` where the policy does not say.
  public var maxBufferMemory: Int?
  /// Bytes of `maxBufferMemory` where nothing limits the memory of the process.
  public static let defaultBufferMemory = 256 * 1024 * 1024
  /// A minute; 0: any.
  public var tokenRequestsPerClient = 30_000
  /// A minute; 0: any.
  public var tokenRequestsPerAddress = 3_000

  public init() {}

  /// The notes are the reason for the default, and the answer beyond the limit.
  public static let table = SettingTable<LimitSettings>(
    "limits", "Limits for one client, one request and the whole process.",
    [
      .number(
        "header_bytes", \.headerBytes, .size(1_024...16_384), "Bytes of a request head",
        notes: ["what servers take by default; it is kept in one buffer", "431"]),
      .number(
        "header_fields", \.headerFields, .number(10...100), "Header fields of a request",
        notes: ["browsers send 15 to 30; each costs time in every rewrite", "431"]),
      .number(
        "target_length", \.targetLength, .size(256...16_000), "Bytes of a request target; shorter than `header_bytes`",
        notes: ["longer than any authorization request with a signed state", "414"]),
      .number(
        "body", \.body, .size(4_096...1_048_576),
        "Bytes of the body of a request to an OAuth endpoint, which is read whole",
        notes: ["ten times the longest assertion; other bodies are streamed and have no limit", "413"]),
      .number(
        "header_timeout", \.headerTimeout, .duration(100...600_000),
        "Time from a head's first byte to its last, and from a connection to its first byte",
        notes: ["three retransmissions on a bad link; a slow sender holds a buffer as long", "408, or a close"]),
      .number(
        "body_timeout", \.bodyTimeout, .duration(100...3_600_000),
        """
        Time without any progress of a body, in either direction; what the kernel holds for a client it has not taken; \
        a body that is read whole has to arrive in it
        """,
        notes: ["what proxies and load balancers wait", "408, or a reset once the response began"]),
      .number(
        "idle_timeout", \.idleTimeout, .duration(100...86_400_000), "Time until a connection's next request",
        notes: ["longer than the 60 s of most load balancers, so that they close first", "a close"]),
      .number(
        "request_timeout", \.requestTimeout, .duration(1_000...604_800_000),
        "Time from a head to the response's last byte; switched protocols are not counted",
        notes: [
          "a large download on a slow link; nothing holds a connection of the upstream's for ever",
          "408, 504, or a reset",
        ]),
      .number(
        "minimum_rate", \.minimumRate, .word("off", or: .size(1...1_048_576)),
        "Bytes a second that a client gives or takes while nothing but it is waited for, over 20 s",
        notes: [
          "slower than any modem; one byte now and then would hold buffers and an upstream connection",
          "408, or a reset",
        ]),
      .number(
        "connections", \.connections, .number(16...10_000_000), "Connections from clients, process-wide",
        notes: [
          "about 35 MB when all are idle; the process's descriptors are often fewer, and then accepting pauses", "503",
        ]),
      .number(
        "connections_per_address", \.connectionsPerAddress, .number(1...10_000_000),
        "Connections of one address, of IPv6 of one /64",
        notes: [
          """
          an office behind one address; trusted proxies and loopback are not counted, a proxy that speaks the PROXY \
          protocol has its clients counted
          """,
          "429",
        ]),
      .number(
        "requests_per_connection", \.requestsPerConnection, .number(1...1_000_000_000),
        "Requests on one connection, then it is closed",
        notes: ["spreads clients over workers and replicas again, at no cost that shows", "a close"]),
      .number(
        "concurrent_streams", \.concurrentStreams, .number(1...1_000),
        "Requests in progress on one HTTP/2 connection",
        notes: [
          "the least that RFC 9113 recommends; each holds a task and buffers",
          "the stream is reset with REFUSED_STREAM",
        ]),
      .number(
        "stream_resets", \.streamResets, .number(10...100_000),
        "Streams of one HTTP/2 connection that end before their responses, at once; 10 a second are forgiven",
        notes: [
          """
          a browser that leaves a page cancels what it had asked for, at most `concurrent_streams`; a reset costs its \
          sender nothing and the upstream a request
          """,
          "GOAWAY",
        ]),
      .number(
        "control_frames", \.controlFrames, .number(100...1_000_000),
        """
        Frames of one HTTP/2 connection that carry nothing of a request, at once; 50 a second are forgiven, and 4 for \
        each request and DATA frame
        """,
        notes: [
          "PING, SETTINGS, PRIORITY, WINDOW_UPDATE, empty DATA: more of them than requests bring with them is a flood",
          "GOAWAY",
        ]),
      .number(
        "max_buffer_memory", \.maxBufferMemory, .size(1_048_576...1_099_511_627_776),
        "Bytes of buffers, and of bodies that are read whole, process-wide",
        default: "`256MiB`, or a quarter of the control group's memory if that is less; the start says so",
        notes: [
          """
          3,600 requests in progress at 72 KiB each: four times `max_connections` of the upstream; beyond the control \
          group's limit the kernel ends the process. From half of it on, an HTTP/2 connection that takes less than \
          `minimum_rate` of its waiting responses for 5 s is ended
          """,
          "503, GOAWAY",
        ]),
      .number(
        "token_requests_per_client", \.tokenRequestsPerClient, .word("off", or: .number(1...10_000_000)),
        """
        Token and revocation requests of one client a minute, and at once; only requests with a code or refresh token \
        that is sealed to it, or whose secret the gateway verified, so that naming a client does not use it up
        """,
        notes: [
          "500 a second, more than a legacy server does; one app's flood must not take it from the others", "429",
        ]),
      .number(
        "token_requests_per_address", \.tokenRequestsPerAddress, .word("off", or: .number(1...10_000_000)),
        """
        Token and revocation requests of one address a minute, and at once, of IPv6 of one /64; loopback is not \
        counted
        """,
        notes: [
          """
          50 a second, a busy web app's own server; counted before the client, so that one address cannot use up an \
          app's
          """,
          "429",
        ]),
    ]
  ) { LimitSettings() }
}
