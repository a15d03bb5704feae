import AccessLog
import Telemetry
import Time

/// Entries of a request with typical values.
enum Entries {
  /// The time of all lines: 24 November 2026, 10:00:00.123 UTC.
  static let now = Timestamp(milliseconds: 1_795_514_400_123)

  /// Returns an entry whose texts `change` may replace.
  static func entry(_ change: (AccessEntry) -> Void = { _ in }) -> AccessEntry {
    let entry = AccessEntry()
    entry.begin(at: 1_000)
    entry.peer = "192.0.2.1"
    entry.listener = "127.0.0.1:8080"
    entry.protocolName = "HTTP/1.1"
    entry.setMethod("GET".utf8.span)
    entry.setPath("/app".utf8.span)
    entry.setHost("id.example.com".utf8.span)
    entry.status = 200
    entry.bytesOut = 5
    entry.duration = 1_234_567
    change(entry)
    return entry
  }
}
