/// The settings of the access log (`gateway.access_log`).
public struct AccessLogSettings: Sendable, Equatable {
  /// The destination of the log.
  public enum Destination: Sendable, Equatable {
    case standardOutput
    /// A file or FIFO, at its absolute path.
    case file(String)
    case syslog(SyslogSettings)
  }

  /// The form of a line.
  public enum Form: String, Sendable, CaseIterable {
    case json
    /// The combined format of Apache and nginx.
    case combined
  }

  /// The destination of the log. Default: standard output, until the reader of the policy sets it.
  public var destination = Destination.standardOutput
  /// The form of a line. Default: JSON.
  public var format = Form.json
  /// The members of a line in JSON. Default: all.
  public var fields = Set(AccessLogField.allCases)
  /// One of so many requests has a line. Default: all requests.
  public var sample = 1

  /// Creates the defaults.
  public init() {}

  /// The settings of `access_log:`.
  public static let table = SettingTable<AccessLogSettings>(
    "access_log", "The access log: one line for each request.",
    [
      .customReader(
        "to", .word("stdout", or: .section("access_log_to")),
        "The destination: `stdout`, a file, or the socket of a syslog server",
        adviceIfMissing: "`to: stdout`, `to: { file: PATH }` or `to: { syslog: /dev/log }`"),
      .choice(
        "format", \.format,
        """
        The form of a line. `json`: an object with the members of `fields`. `combined`: the combined format of Apache and \
        nginx
        """),
      .choices("fields", \.fields, "The members of a line in JSON; see [operations.md](operations.md#access-log)"),
      .number(
        "sample", \.sample, .number(1...1_000_000),
        "One of so many requests has a line, chosen evenly; `1`: each request"),
    ]
  ) { AccessLogSettings() }
}

/// A member of a line of the access log in JSON. The raw values are those of the policy, and the names of the members.
public enum AccessLogField: String, Sendable, CaseIterable {
  case time
  case request
  case trace
  case peer
  case listener
  case `protocol`
  case tls
  case method
  case host
  case path
  case query
  case status
  case reason
  case bytesIn = "bytes_in"
  case bytesOut = "bytes_out"
  case duration = "duration_us"
  case upstream
  case upstreamConnect = "upstream_connect_us"
  case upstreamFirstByte = "upstream_first_byte_us"
  case referer
  case userAgent = "user_agent"
}

/// A syslog server on this machine (RFC 5424).
public struct SyslogSettings: Sendable, Equatable {
  /// The facility of the messages (RFC 5424, section 6.2.1). The order of the cases is that of their numbers.
  public enum Facility: String, Sendable, CaseIterable {
    case kern, user, mail, daemon, auth, syslog, lpr, news, uucp, cron, authpriv, ftp, ntp, audit, alert, clock
    case local0, local1, local2, local3, local4, local5, local6, local7
  }

  /// The severity of the messages. The order of the cases is that of their numbers.
  public enum Severity: String, Sendable, CaseIterable {
    case emerg, alert, crit, err, warning, notice, info, debug
  }

  /// The path of the datagram socket.
  public var path: String
  /// The facility of all messages. Default: `local7`, as in nginx.
  public var facility = Facility.local7
  /// The severity of all messages. Default: `info`.
  public var severity = Severity.info

  /// Creates the settings of the server at `path`.
  public init(path: String) {
    self.path = path
  }

  /// The priority of all messages (RFC 5424, section 6.2.1).
  public var priority: Int {
    let facility = Facility.allCases.firstIndex(of: facility) ?? 0
    return facility * 8 + (Severity.allCases.firstIndex(of: severity) ?? 0)
  }
}
