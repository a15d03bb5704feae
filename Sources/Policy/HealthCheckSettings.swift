public import Time

/// The requests by which the gateway checks the addresses of the server (`upstream.health_check`).
public struct HealthCheckSettings: Sendable, Equatable {
  /// The path that is requested.
  public var path = ""
  /// The time between two requests to an address. Default: 10 s.
  public var interval: Milliseconds = 10_000
  /// The maximum time of a request, from the connect to the end of the response head. Default: 2 s.
  public var timeout: Milliseconds = 2_000
  /// The statuses of a healthy server; empty (default) for 200 to 399.
  public var statuses: [Int] = []
  /// The number of failed requests in succession that take an address out of service. Default: 3.
  public var failures = 3
  /// The number of successful requests in succession that return an address to service. Default: 2.
  public var successes = 2

  /// Creates the defaults.
  public init() {}

  /// The settings of `health_check:`.
  public static let table = SettingTable<HealthCheckSettings>(
    "health_check", "Requests by which the gateway checks the addresses of the server.",
    [
      .customReader(
        "path", .text("path", pattern: "^/[A-Za-z0-9/._~!$&'()*+,=:@-]*$"),
        "The path that each address gets a GET request for", adviceIfMissing: "the path to request, such as `/health`"),
      .duration(
        "interval", \.interval, 1_000...3_600_000,
        "The time between two requests to an address, which varies by a tenth; longer than `timeout`"),
      .duration(
        "timeout", \.timeout, 10...600_000,
        "The longest time of a request, from the connect to the end of the response head"),
      .customReader(
        "statuses", .list(.number(200...599), allowsSingleValue: true, minimumCount: 1),
        "The statuses of a healthy server", default: "`200` to `399`"),
      .number(
        "failures", \.failures, .number(1...100),
        "The number of failed requests in succession after which an address is out of service"),
      .number(
        "successes", \.successes, .number(1...100),
        "The number of successful requests in succession after which it is in service again"),
    ]
  ) { HealthCheckSettings() }
}
