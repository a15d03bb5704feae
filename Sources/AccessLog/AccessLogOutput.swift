public import Reactor

/// The destination of the access log.
public struct AccessLogOutput: Sendable, CustomStringConvertible {
  /// The header of messages to a syslog server.
  public struct Syslog: Hashable, Sendable {
    /// The priority: eight times the number of the facility and the number of the severity (RFC 5424, section 6.2.1).
    public let priority: Int
    /// The name of this machine.
    public let host: String
    /// The id of this process.
    public let process: Int

    /// Creates a header.
    public init(priority: Int, host: String, process: Int) {
      self.priority = priority
      self.host = host
      self.process = process
    }

    /// Returns the header of a message, with the space after it. The message has the id `access` and no structured
    /// data (RFC 5424, section 6).
    func header(time: String) -> String {
      "<\(priority)>1 \(time) \(host.isEmpty ? "-" : host) proofgate \(process) access - "
    }
  }

  let lines: LineOutput
  /// The header of each line in a datagram of its own; `nil` if lines are written as they are.
  let syslog: Syslog?

  /// Opens a destination.
  ///
  /// - Parameter syslog: The header of the messages, if the destination is the socket of a syslog server.
  public init(_ destination: LineOutput.Destination, syslog: Syslog? = nil) throws(IOError) {
    lines = try LineOutput(destination)
    self.syslog = syslog
  }

  /// The name of the destination, as in the policy.
  public var description: String {
    switch lines.destination {
    case .standardOutput: "stdout"
    case .file(let path), .datagramSocket(let path): path
    }
  }

  /// True if both have the same destination, with the same header.
  func isSame(as other: AccessLogOutput) -> Bool {
    lines.destination == other.lines.destination && syslog == other.syslog
  }
}
