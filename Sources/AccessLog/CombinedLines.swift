internal import ByteText
internal import Time

/// A buffer of lines in the combined format, byte for byte as nginx writes them:
///
///     peer - - [24/Nov/2026:10:00:00 +0000] "GET /path?query HTTP/1.1" 200 1234 "referer" "user agent"
///
/// A missing text is `-`. Texts are escaped (`LogText`), so none can end its field or its line.
struct CombinedLines: Sendable {
  private(set) var bytes: [UInt8] = []
  /// The time of the last line, in seconds, and its text.
  private var second: UnixTime = -1
  private var time: [UInt8] = []
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  mutating func clear() { bytes.removeAll(keepingCapacity: true) }

  /// Appends the line of a request that ended at `now`.
  mutating func append(_ entry: AccessEntry, at now: Timestamp) {
    append(entry.peer.isEmpty ? "-" : entry.peer)
    bytes.append(" - - [")
    appendTime(UnixTime(seconds: now.milliseconds / 1_000))
    bytes.append("] \"")
    if let method = entry.method, let path = entry.path {
      append(method, of: entry)
      bytes.append(.space)
      append(path, of: entry)
      if let query = entry.query {
        bytes.append(UInt8(ascii: "?"))
        append(query, of: entry)
      }
      bytes.append(.space)
      append(entry.protocolName)
    } else {
      bytes.append("-")
    }
    bytes.append("\" \(entry.status) \(entry.bytesOut) \"")
    append(entry.referer, of: entry)
    bytes.append("\" \"")
    append(entry.userAgent, of: entry)
    bytes.append("\"\n")
  }

  private mutating func append(_ text: AccessEntry.Text?, of entry: AccessEntry) {
    guard let text else { return bytes.append("-") }
    entry.withBytes(of: text) { LogText.append($0, to: &bytes) }
  }

  private mutating func append(_ text: String) { LogText.append(text.utf8.span, to: &bytes) }

  private mutating func appendTime(_ now: UnixTime) {
    if now != second {
      second = now
      time = Array(CombinedLines.text(now).utf8)
    }
    bytes += time
  }

  private static func text(_ time: UnixTime) -> String {
    let (days, second) = Int(time.seconds).quotientAndRemainder(dividingBy: 86_400)
    let date = GregorianDate(daysSince1970: days)
    let clock = "\(twoDigits(second / 3_600)):\(twoDigits(second / 60 % 60)):\(twoDigits(second % 60))"
    return "\(twoDigits(date.day))/\(months[date.month - 1])/\(date.year):\(clock) +0000"
  }

  private static func twoDigits(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
}
