import CLinux

/// The socket on which a service manager receives the state of a service, as `sd_notify(3)` describes it.
public struct ServiceSocket: Sendable {
  private let path: String

  /// Creates a socket from the value of `NOTIFY_SOCKET`: a path, or `@` and a name in the abstract namespace. Returns
  /// `nil` for any other value.
  public init?(path: String) {
    guard path.hasPrefix("/") || path.hasPrefix("@"), path.utf8.count > 1 else { return nil }
    self.path = path
  }

  /// Sends one message.
  ///
  /// - Parameter seconds: The time to wait for room in the queue of the service manager; 0 not to block.
  public func send(_ message: String, waitingAtMost seconds: UInt32 = 0) throws(IOError) {
    let bytes = Array(message.utf8)
    let result = unsafe bytes.withUnsafeBytes { buffer -> Int32 in
      guard let base = buffer.baseAddress else { return 0 }
      return unsafe cl_send_datagram_unix(path, base, buffer.count, seconds)
    }
    _ = try IOError.check(result)
  }

  /// Sends descriptors of listening sockets, each batch with the same message. Blocks at most a second per batch.
  public func send(_ message: String, _ sockets: [ListeningSocket]) throws(IOError) {
    let bytes = Array(message.utf8)
    var rest = sockets.map(\.descriptor)[...]
    while !rest.isEmpty {
      let batch = Array(rest.prefix(128))
      rest = rest.dropFirst(batch.count)
      let result = unsafe bytes.withUnsafeBytes { text -> Int32 in
        unsafe batch.withUnsafeBufferPointer { descriptors -> Int32 in
          guard let base = text.baseAddress, let first = descriptors.baseAddress else { return 0 }
          return unsafe cl_send_descriptors_unix(path, base, text.count, first, Int32(descriptors.count))
        }
      }
      _ = try IOError.check(result)
    }
  }
}
