import CLinux
public import Time

/// The times after which the kernel gives up a TCP connection whose peer no longer answers (tcp(7)).
public struct TCPTimers: Equatable, Sendable {
  /// The time without traffic after which the kernel sends probes; whole seconds. The connection ends if three probes,
  /// at intervals of a third of this time, are not answered. 0 for no probes.
  public var keepalive: Milliseconds
  /// The time for which sent bytes may stay without acknowledgement. 0 for the system's limit of about 15 minutes.
  public var userTimeout: Milliseconds

  /// Creates timers, by default those of the system.
  public init(keepalive: Milliseconds = 0, userTimeout: Milliseconds = 0) {
    self.keepalive = keepalive
    self.userTimeout = userTimeout
  }

  /// Sets the timers of a TCP socket. Connections that are accepted from a listening socket inherit them.
  func set(on descriptor: Int32) throws(IOError) {
    let seconds = Int32(clamping: keepalive.count / 1_000)
    _ = try IOError.check(cl_set_keepalive(descriptor, seconds, max(1, seconds / 3)))
    _ = try IOError.check(cl_set_user_timeout(descriptor, UInt32(clamping: userTimeout.count)))
  }
}

extension Socket {
  /// Sets the timers. Has no effect on a Unix socket or a stream.
  public func setTimers(_ timers: TCPTimers) {
    // An error means that the socket is not a TCP socket, or that the connection has ended.
    if descriptor >= 0 { try? timers.set(on: descriptor) }
  }
}

extension ListeningSocket {
  /// Sets the timers of the connections that are accepted from now on. Has no effect on a Unix socket.
  public func setTimers(_ timers: TCPTimers) {
    if !address.isUnixSocket { try? timers.set(on: descriptor) }
  }
}
