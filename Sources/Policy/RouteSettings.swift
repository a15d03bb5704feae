public import Time

/// The limits and header fields of the passing requests whose path lies under a prefix (an item of `routes:`).
///
/// A route has no effect on the rules: requests that the gateway answers or refuses have none.
public struct RouteSettings: Sendable, Equatable {
  /// The maximum number of routes. Each request compares its path with all of their prefixes.
  public static let maximumCount = 100

  /// The prefix: whole segments of a path, from the first slash on.
  public var prefix = ""
  /// The maximum length of a request body in bytes; `nil` for no limit.
  public var bodyLimit: Int?
  /// The value for the route of ``LimitSettings/requestBuffer``; `nil` for that of `limits`.
  public var requestBuffer: Int?
  /// The value for the route of ``LimitSettings/bodyTimeout``; `nil` for that of `limits`.
  public var bodyTimeout: Milliseconds?
  /// The value for the route of ``LimitSettings/tunnelTimeout``; `nil` for that of `limits`.
  public var tunnelTimeout: Milliseconds?
  /// The value for the route of ``LimitSettings/requestTimeout``; `nil` for that of `limits`.
  public var requestTimeout: Milliseconds?
  /// The value for the route of ``UpstreamSettings/responseTimeout``; `nil` for that of `upstream`.
  public var responseTimeout: Milliseconds?
  /// The changes to the fields of requests for the server.
  public var requestHeaders = HeaderChanges()
  /// The changes to the fields of the server's responses.
  public var responseHeaders = HeaderChanges()

  /// Creates a route without limits of its own.
  public init() {}

  /// The settings of an item of `routes:`.
  public static let table = SettingTable<RouteSettings>(
    "route", "Limits and header fields of the passing requests under a path prefix.",
    [
      .customReader(
        "prefix", .text("path", pattern: "^/[A-Za-z0-9/._~!$&')*,=:@-]+$"),
        """
        The beginning of the paths: whole segments, in any letter case. The longest matching prefix counts. It may not \
        contain an OAuth endpoint
        """,
        adviceIfMissing: "`prefix: PATH`, such as `prefix: /upload`"),
      .number(
        "body", \.bodyLimit, .size(0...1_099_511_627_776),
        "Bytes of a request body; a longer one gets 413. The server gets no part of it if the length is announced",
        default: "no limit"),
      .customReader(
        "request_buffer", .word("off", or: .size(1_024...1_048_576)), "As in `limits`", default: "that of `limits`"),
      .duration("body_timeout", \.bodyTimeout, 100...3_600_000, "As in `limits`", default: "that of `limits`"),
      .duration(
        "tunnel_timeout", \.tunnelTimeout, 1_000...604_800_000, "As in `limits`", default: "that of `limits`"),
      .duration(
        "request_timeout", \.requestTimeout, 1_000...604_800_000, "As in `limits`", default: "that of `limits`"),
      .duration(
        "response_timeout", \.responseTimeout, 10...86_400_000, "As in `upstream`", default: "that of `upstream`"),
      .customReader(
        "request_headers", .section("header_changes"), "The changes to the header fields of requests for the server",
        default: "none"),
      .customReader(
        "response_headers", .section("header_changes"), "The changes to the header fields of the server's responses",
        default: "none"),
    ]
  ) { RouteSettings() }
}

/// Changes to the header fields of a message.
public struct HeaderChanges: Sendable, Equatable {
  /// A field with its value.
  public struct Field: Sendable, Equatable {
    /// The name.
    public var name: String
    /// The value: printable ASCII characters.
    public var value: String

    /// Creates a field.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The fields that the gateway writes in place of all fields with their names.
  public var set: [Field] = []
  /// The names of the fields that the gateway removes.
  public var removed: [String] = []

  /// The maximum number of bytes of all fields of `set`. A head has room for so many bytes in addition to the
  /// gateway's own fields.
  public static let maximumSize = 1_024

  /// Creates changes that change nothing.
  public init() {}

  /// The number of bytes of the fields of `set` as lines.
  public var size: Int { self.set.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + ": \r\n".utf8.count } }

  /// The settings of `request_headers:` and `response_headers:`.
  public static let table = SettingTable<HeaderChanges>(
    "header_changes", "Changes to header fields.",
    [
      .customReader(
        "set", .mapping(keys: "names", pattern: namePattern, of: .text("values", pattern: "^[ -~]+$")),
        "Fields that the gateway writes in place of all fields with their names, up to 1 KiB together", default: "none"),
      .customReader(
        "remove", .list(.text("names", pattern: namePattern), allowsSingleValue: true),
        "Names of fields that the gateway removes", default: "none"),
    ]
  ) { HeaderChanges() }

  private static let namePattern = "^[A-Za-z0-9][A-Za-z0-9-]*$"
}
