public import Time

/// The limits for one client, one request and the whole process (`limits:` in the policy file). The rows of ``table``
/// give the reason for each default, and the exceptions. A limit "in one burst" is the capacity of a token bucket: so
/// many events may occur at once, and the bucket fills again over time.
public struct LimitSettings: Sendable, Equatable {
  /// The maximum length of a request head, in bytes. Default: 16 KiB.
  public var headerBytes = 16 * 1024
  /// The maximum number of header fields of a request. Default: 100.
  public var headerFields = 100
  /// The maximum length of a response head of the server, in bytes. Default: 16 KiB.
  public var responseHeaderBytes = 16 * 1024
  /// The maximum number of header fields of a response of the server. Default: 100.
  public var responseHeaderFields = 100
  /// The maximum length of a request target, in bytes. It must be less than `headerBytes`. Default: 8 KiB.
  public var targetLength = 8 * 1024
  /// The maximum length of the body of a request to an OAuth endpoint, in bytes. Default: 64 KiB.
  public var body = 64 * 1024
  /// The maximum number of body bytes of a passing request that are received before the request takes an upstream
  /// connection; 0 to pass each byte on at once. Default: 16 KiB.
  public var requestBuffer = 16 * 1024
  /// The maximum number of body bytes of a passing request that are kept until its response, if a sign-in may run in the
  /// browser. Default: 512 KiB.
  public var requestCopy = 512 * 1024
  /// The maximum time from the first to the last byte of a head. Also the maximum time from the start of a connection
  /// to its first byte. Default: 10 s.
  public var headerTimeout: Milliseconds = 10_000
  /// The maximum time without progress of a body. A body that the gateway reads completely must also arrive in this
  /// time. Default: 60 s.
  public var bodyTimeout: Milliseconds = 60_000
  /// The maximum time without traffic of a connection that has switched to another protocol. Default: 10 minutes.
  public var tunnelTimeout: Milliseconds = 600_000
  /// The maximum time that a connection waits for its next request. Default: 75 s.
  public var idleTimeout: Milliseconds = 75_000
  /// The maximum time from a request head to the last byte of its response. Default: 1 hour.
  public var requestTimeout: Milliseconds = 3_600_000
  /// The number of bytes per second that a client must send or read while the gateway waits only for the client; 0 for
  /// no limit. Default: 500.
  public var minimumRate = 500
  /// The maximum number of client connections of the process. Default: 65,536.
  public var connections = 65_536
  /// The maximum number of connections of one IPv4 address or one IPv6 /64. Default: 1,024.
  public var connectionsPerAddress = 1_024
  /// The maximum number of passing requests (those that are not for an OAuth endpoint), and of relayed pages of OAuth
  /// endpoints, that one IPv4 address or one IPv6 /64 may have in progress while few upstream connections are free. If `nil`, the limit is half of the upstream
  /// connections that passing requests may use, but not less than 100 for each worker.
  public var requestsPerAddress: Int?
  /// The number of requests on a connection after which the gateway closes it. Default: 10,000.
  public var requestsPerConnection = 10_000
  /// The maximum number of requests in progress on one HTTP/2 connection. Default: 100.
  public var concurrentStreams = 100
  /// The maximum number of streams of one HTTP/2 connection that end before their responses are complete, in one burst.
  /// Default: 100.
  public var streamResets = 100
  /// The maximum number of frames of one HTTP/2 connection that carry no part of a request, in one burst. Default:
  /// 1,000.
  public var controlFrames = 1_000
  /// The maximum total size, in bytes, of all buffers of the process and of all bodies that the gateway reads
  /// completely. If `nil`, the limit is `defaultBufferMemory`, or a quarter of the memory limit of the control group if
  /// this quarter is less.
  public var maxBufferMemory: Int?
  /// The default of `maxBufferMemory` in a control group with enough memory: 256 MiB.
  public static let defaultBufferMemory = 256 * 1024 * 1024
  /// The maximum number of token and revocation requests of one client per minute, and also in one burst; 0 for no
  /// limit. Default: 30,000.
  public var tokenRequestsPerClient = 30_000
  /// The maximum number of token and revocation requests of one IPv4 address or one IPv6 /64 per minute, and also in
  /// one burst; 0 for no limit. Default: 3,000.
  public var tokenRequestsPerAddress = 3_000
  /// The maximum number of client registrations from one network (/24 or /48) per minute, and also in one burst; 0 for
  /// no limit. Default: 1,000.
  public var registrationsPerNetwork = 1_000
  /// The maximum number of client registrations per minute, and also in one burst; 0 for no limit. Default: 10,000.
  public var registrations = 10_000

  /// Creates the defaults.
  public init() {}

  /// The settings of `limits:`. Each row has two notes: the reason for the default, and what happens if the limit is
  /// exceeded.
  public static let table = SettingTable<LimitSettings>(
    "limits", "Limits for one client, one request and the whole process.",
    [
      .number(
        "header_bytes", \.headerBytes, .size(1_024...16_384), "Bytes of a request head",
        notes: ["the usual default of servers; a head is kept in one buffer", "431"]),
      .number(
        "header_fields", \.headerFields, .number(10...100), "Header fields of a request",
        notes: ["browsers send 15 to 30; each field costs time in every rewrite", "431"]),
      .number(
        "response_header_bytes", \.responseHeaderBytes, .size(1_024...16_384), "Bytes of a response head of the server",
        notes: ["as for requests; a lower limit shows a server that sends more than it should", "502"]),
      .number(
        "response_header_fields", \.responseHeaderFields, .number(10...100),
        "Header fields of a response of the server",
        notes: ["servers send 10 to 20; each cookie is one", "502"]),
      .number(
        "target_length", \.targetLength, .size(256...16_000), "Bytes of a request target; shorter than `header_bytes`",
        notes: ["longer than any authorization request with a signed state", "414"]),
      .number(
        "body", \.body, .size(4_096...1_048_576),
        "Bytes of the body of a request to an OAuth endpoint, which is read whole",
        notes: ["ten times the longest assertion; other bodies are streamed, and only `routes` limit them", "413"]),
      .number(
        "request_buffer", \.requestBuffer, .word("off", or: .size(1_024...1_048_576)),
        """
        Bytes of the body of a passing request that the gateway receives before it takes an upstream connection, unless \
        the body ends earlier; `off`: every byte is passed on at once
        """,
        notes: [
          """
          most forms, which the server then gets in one piece; a client that sends slowly occupies no connection; \
          larger buffers count as `max_buffer_memory`, and none is used once more than half of that would be in use
          """,
          "the rest is streamed",
        ]),
      .number(
        "request_copy", \.requestCopy, .size(65_536...4_194_304),
        """
        Bytes of the body of a passing request, from a browser with the gateway's cookie, of which the gateway keeps a \
        copy until the response
        """,
        notes: [
          """
          a SAML response with many groups at a page of `completion_paths`; a response completes a sign-in only if its \
          code was not in the request; copies count as `max_buffer_memory`, and are kept beyond 64 KiB only while less \
          than half of that is in use
          """,
          "the request passes; if its response would complete a sign-in, 502 (`answer-unchecked`)",
        ]),
      .duration(
        "header_timeout", \.headerTimeout, 100...600_000,
        "Time from the first byte of a head to the last, and from a new connection to its first byte",
        notes: ["three retransmissions on a bad link; a slow sender holds a buffer this long", "408, or a close"]),
      .duration(
        "body_timeout", \.bodyTimeout, 100...3_600_000,
        """
        Time without any progress of a body, in either direction; bytes that the kernel still holds for a client count \
        as not received; a body that is read whole must arrive within it
        """,
        notes: ["the usual time of proxies and load balancers", "408, or a reset if the response has begun"]),
      .duration(
        "tunnel_timeout", \.tunnelTimeout, 1_000...604_800_000,
        "Time without any traffic on a connection that has switched to another protocol (`upstream.upgrades`)",
        notes: [
          "longer than the heartbeats of WebSocket libraries; each tunnel holds an upstream connection", "a close",
        ]),
      .duration(
        "idle_timeout", \.idleTimeout, 100...86_400_000, "Time until the next request of a connection",
        notes: ["longer than the 60 s of most load balancers, so that they close first", "a close"]),
      .duration(
        "request_timeout", \.requestTimeout, 1_000...604_800_000,
        "Time from a request head to the last byte of its response; it does not apply to switched protocols",
        notes: [
          "a large download on a slow link; no request holds an upstream connection for ever",
          "408, 504, or a reset",
        ]),
      .number(
        "minimum_rate", \.minimumRate, .word("off", or: .size(1...1_048_576)),
        "Bytes a second that a client must send or read while the gateway waits only for it, measured over 20 s",
        notes: [
          """
          slower than any modem; a client with a byte now and then would hold buffers and an upstream connection. On a \
          Unix listener, where the kernel counts whole packets, a client may lag by 48 KiB
          """,
          "408, or a reset",
        ]),
      .number(
        "connections", \.connections, .number(16...10_000_000), "Connections from clients, process-wide",
        notes: [
          """
          about 35 MB if all are idle; the process often has fewer descriptors, and then the gateway pauses accepting
          """,
          "503",
        ]),
      .number(
        "connections_per_address", \.connectionsPerAddress, .number(1...10_000_000),
        "Connections of one IPv4 address or one IPv6 /64",
        notes: [
          """
          an office behind one address; connections of trusted proxies and loopback do not count; with the PROXY \
          protocol they count for the client's address
          """,
          "429",
        ]),
      .number(
        "requests_per_address", \.requestsPerAddress, .number(1...10_000_000),
        """
        Passing requests in progress of one IPv4 address or one IPv6 /64, and pages of the OAuth endpoints that it is \
        still reading, while at most an eighth of the upstream connections are free
        """,
        default: "half of the upstream connections that passing requests may use, at least 100 for each worker",
        notes: [
          """
          one client that does not read its responses must not keep all upstream connections; while enough are free, \
          an office behind one address has no limit; loopback and trusted proxies do not count
          """,
          "429; a page of an OAuth endpoint is read from the server whole and holds no connection",
        ]),
      .number(
        "requests_per_connection", \.requestsPerConnection, .number(1...1_000_000_000),
        "Requests on one connection, after which the gateway closes it",
        notes: ["spreads clients over workers and replicas again, at no measurable cost", "a close"]),
      .number(
        "concurrent_streams", \.concurrentStreams, .number(1...1_000),
        "Requests in progress on one HTTP/2 connection",
        notes: [
          "the least that RFC 9113 recommends; each request holds a task and buffers",
          "the stream is reset with REFUSED_STREAM",
        ]),
      .number(
        "stream_resets", \.streamResets, .number(10...100_000),
        "Streams of one HTTP/2 connection that end before their responses, in one burst; 10 a second are forgiven",
        notes: [
          """
          a browser that leaves a page cancels its requests, at most `concurrent_streams`; a reset costs its sender \
          nothing and the upstream a request
          """,
          "GOAWAY",
        ]),
      .number(
        "control_frames", \.controlFrames, .number(100...1_000_000),
        """
        Frames of one HTTP/2 connection that carry no part of a request, in one burst; 50 a second are forgiven, and 4 \
        for each request and DATA frame
        """,
        notes: [
          "PING, SETTINGS, PRIORITY, WINDOW_UPDATE, empty DATA: more of them than the requests need is a flood",
          "GOAWAY",
        ]),
      .number(
        "max_buffer_memory", \.maxBufferMemory, .size(1_048_576...1_099_511_627_776),
        """
        Bytes of buffers, of bodies that are read whole, and of what the gateway reads from the requests that it answers \
        itself (16 times the length of their head and 6 times that of their body), process-wide
        """,
        default: "`256MiB`, or a quarter of the control group's memory if that is less, with a message at the start",
        notes: [
          """
          3,600 requests in progress at 72 KiB each: four times `max_connections` of the upstream; beyond the control \
          group's limit the kernel ends the process. While more than half is in use, the gateway ends an HTTP/2 \
          connection that reads less than `minimum_rate` of its waiting responses for 5 s, and one address may hold an \
          eighth in requests whose bodies are not complete
          """,
          "503, 429, GOAWAY",
        ]),
      .number(
        "token_requests_per_client", \.tokenRequestsPerClient, .word("off", or: .number(1...10_000_000)),
        """
        Token and revocation requests of one client a minute, and in one burst; only requests that use a code or \
        refresh token that is sealed to the client, or have its verified secret, count: no poll of a device, and no \
        token that was used before, so that others cannot use up its limit
        """,
        notes: [
          "500 a second, more than a legacy server can do; a flood of one app must not stop the others", "429",
        ]),
      .number(
        "token_requests_per_address", \.tokenRequestsPerAddress, .word("off", or: .number(1...10_000_000)),
        """
        Token and revocation requests of one IPv4 address or one IPv6 /64 a minute, and in one burst; requests from \
        loopback do not count
        """,
        notes: [
          """
          50 a second, enough for the server of a busy web app; this limit is checked first, so that one address \
          cannot use up the limit of an app
          """,
          "429",
        ]),
      .number(
        "registrations_per_network", \.registrationsPerNetwork, .word("off", or: .number(1...10_000_000)),
        """
        Client registrations (RFC 7591) from one network, /24 or /48, a minute, and in one burst; requests from loopback, \
        and those without the initial access token, do not count
        """,
        notes: ["a web application registers a client for each of its users from a few addresses", "429"]),
      .number(
        "registrations", \.registrations, .word("off", or: .number(1...10_000_000)),
        "Client registrations from all networks a minute, and in one burst",
        notes: ["a registration costs less than a token request, and nothing is stored for it", "429"]),
    ]
  ) { LimitSettings() }
}
