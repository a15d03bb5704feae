internal import ByteText
internal import Reactor
internal import Time

/// The lines that the writer has taken from the workers and that their destination has not accepted yet.
struct LineDelivery {
  /// Lines that were lost.
  struct Loss {
    let lines: Int
    let error: IOError
  }

  /// The lines. Those in front of `position` have been delivered.
  var bytes: [UInt8] = []
  private var position = 0
  private var output: AccessLogOutput?
  private var datagram: [UInt8] = []
  /// True after a failed write. The destination may then end with a part of a line, so the next write begins with a
  /// line end.
  private var mayEndWithPartialLine = false

  init(_ output: AccessLogOutput) {
    self.output = output
  }

  /// The log, for messages.
  var name: String { "the access log" + (output.map { " \($0)" } ?? "") }
  /// True if there is no destination.
  var isOff: Bool { output == nil }
  /// True if a destination has not accepted all lines.
  var hasRest: Bool { position < bytes.count }

  /// Writes the lines, until all are delivered or the wait for the destination is interrupted. Returns the lines that
  /// were lost because the destination failed; `nil` if none was.
  ///
  /// - Parameter signal: The signal that interrupts a wait; `nil` not to wait.
  mutating func deliver(unless signal: ThreadSignal?) -> Loss? {
    guard hasRest else { return nil }
    guard let output else {
      // The log was turned off while a worker appended the line.
      _ = dropRest()
      return nil
    }
    var lineEnd: Int?
    if mayEndWithPartialLine {
      mayEndWithPartialLine = false
      lineEnd = position
      bytes.insert(.lineFeed, at: position)
    }
    var mayReconnect = output.syslog != nil
    while hasRest {
      let outcome =
        output.syslog.map { send($0, output.lines, unless: signal) }
        ?? output.lines.write(bytes, from: position, unless: signal)
      switch outcome {
      case .wrote(let count): position += count
      case .interrupted: return nil
      case .failed(let error):
        // The syslog server may have started again.
        if mayReconnect, (try? output.lines.reopen()) != nil {
          mayReconnect = false
          continue
        }
        mayEndWithPartialLine = output.syslog == nil
        // The line end in front of the lines is not a line.
        let added = lineEnd == position ? 1 : 0
        return Loss(lines: dropRest() - added, error: error)
      }
    }
    _ = dropRest()
    return nil
  }

  /// Sends the next line. The result has the number of bytes of the line.
  private mutating func send(
    _ syslog: AccessLogOutput.Syslog, _ lines: LineOutput, unless signal: ThreadSignal?
  ) -> LineOutput.Outcome {
    let end = bytes.span.firstIndex(of: .lineFeed, from: position) ?? bytes.count
    datagram.removeAll(keepingCapacity: true)
    datagram.append(syslog.header(time: SystemClock.timestamp().text))
    datagram += bytes[position..<end]
    switch lines.send(datagram, unless: signal) {
    case .wrote: return .wrote(end + 1 - position)
    case let other: return other
    }
  }

  /// Opens the destination again. If this fails, lines go to the old file, and the error is returned.
  func reopen() -> IOError? {
    do throws(IOError) {
      try output?.lines.reopen()
      return nil
    } catch {
      return error
    }
  }

  /// Uses a new destination, or none. Returns the number of lines that the old one had not accepted. They are dropped.
  mutating func replace(_ new: AccessLogOutput?) -> Int {
    output = new
    mayEndWithPartialLine = false
    return dropRest()
  }

  /// Drops the lines that are left. Returns their number.
  private mutating func dropRest() -> Int {
    defer {
      bytes.removeAll(keepingCapacity: true)
      position = 0
    }
    return bytes[position...].reduce(0) { $1 == .lineFeed ? $0 + 1 : $0 }
  }
}
