import Glibc

/// A datagram socket at a path, as a syslog server has it.
public final class DatagramServer {
  private let descriptor: Int32

  /// The socket could not be bound.
  struct NotBound: Error {}

  /// Replaces a socket that an earlier server has left at the path.
  public init(_ path: String) throws {
    unsafe unlink(path)
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    // A test that waits for a message that never comes still ends, and fails.
    var timeout = timeval(tv_sec: 60, tv_usec: 0)
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Array(path.utf8)) }
    let result = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else { throw NotBound() }
  }

  deinit { close(descriptor) }

  /// Waits for the next datagram, for up to a minute; empty without one.
  public func receive() -> String {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }
}
