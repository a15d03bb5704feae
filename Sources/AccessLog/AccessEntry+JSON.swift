internal import ByteText
internal import Telemetry
internal import Time

extension AccessEntry {
  /// The version of the line format. It is incremented when the meaning of a member changes, but not when a member is
  /// added.
  static let formatVersion = 1

  /// Appends the entry as one line of JSON with these fields. Members without a value are omitted.
  func write(_ fields: AccessFields, at now: Timestamp, to lines: inout JSONLines) {
    lines.beginLine()
    lines.appendMember("v", AccessEntry.formatVersion)
    if fields.contains(.time) { lines.appendMember("time", now) }
    lines.appendMember("event", "access")
    if fields.contains(.request), let request { lines.appendMember("request", request) }
    if fields.contains(.trace) { write("trace", trace, to: &lines) }
    if fields.contains(.peer), !peer.isEmpty { lines.appendMember("peer", peer) }
    if fields.contains(.listener), !listener.isEmpty { lines.appendMember("listener", listener) }
    if fields.contains(.protocolName), !protocolName.isEmpty { lines.appendMember("protocol", protocolName) }
    if fields.contains(.tls), let tls { lines.appendMember("tls", tls) }
    if fields.contains(.method) { write("method", method, to: &lines) }
    if fields.contains(.host) { write("host", host, to: &lines) }
    if fields.contains(.path) { write("path", path, to: &lines) }
    if fields.contains(.query) { write("query", query, to: &lines) }
    if fields.contains(.status) { lines.appendMember("status", status) }
    if fields.contains(.reason), let reason { lines.appendMember("reason", reason) }
    if fields.contains(.bytesIn) { lines.appendMember("bytes_in", bytesIn) }
    if fields.contains(.bytesOut) { lines.appendMember("bytes_out", bytesOut) }
    if fields.contains(.duration) { lines.appendMember("duration_us", AccessEntry.microseconds(duration)) }
    if fields.contains(.upstream), let upstream { lines.appendMember("upstream", upstream) }
    if fields.contains(.upstreamConnect), let upstreamConnect {
      lines.appendMember("upstream_connect_us", AccessEntry.microseconds(upstreamConnect))
    }
    if fields.contains(.upstreamFirstByte), let upstreamFirstByte {
      lines.appendMember("upstream_first_byte_us", AccessEntry.microseconds(upstreamFirstByte))
    }
    if fields.contains(.referer) { write("referer", referer, to: &lines) }
    if fields.contains(.userAgent) { write("user_agent", userAgent, to: &lines) }
    lines.endLine()
  }

  private func write(_ name: String, _ text: Text?, to lines: inout JSONLines) {
    guard let text else { return }
    withBytes(of: text) { lines.appendMember(name, $0) }
  }

  private static func microseconds(_ nanoseconds: UInt64) -> Int { Int(clamping: nanoseconds / 1_000) }
}
