internal import Reactor
internal import Telemetry
internal import Time

/// The access log of one worker, which formats the lines of its requests and passes them to the writer. Used only on the
/// thread of the worker.
///
/// A line costs no lock, and no system call unless the writer sleeps. If the writer cannot write fast enough, lines are
/// dropped and counted.
public final class AccessChannel {
  /// The content of the log.
  public let format: AccessLogFormat
  private let ring: ByteRing
  private let writer: AccessLogWriter
  private var json = JSONLines()
  private var combined = CombinedLines()
  private let now: () -> Timestamp

  init(_ format: AccessLogFormat, _ ring: ByteRing, _ writer: AccessLogWriter, now: @escaping () -> Timestamp) {
    self.format = format
    self.ring = ring
    self.writer = writer
    self.now = now
  }

  /// Appends the line of a request that has ended.
  public func append(_ entry: AccessEntry) {
    let waiting: Int?
    switch format.form {
    case .json(let fields):
      json.clear()
      entry.write(fields, at: now(), to: &json)
      waiting = append(json.bytes)
    case .combined:
      combined.clear()
      combined.append(entry, at: now())
      waiting = append(combined.bytes)
    }
    guard let waiting else { return writer.dropLine() }
    writer.wake(isUrgent: waiting > ring.capacity / 2)
  }

  private func append(_ line: [UInt8]) -> Int? { ring.append(line.span) }
}
