import Glibc

/// A TCP port of 127.0.0.1 that no other program gets while this object exists, and that a server can bind nevertheless.
///
/// A test needs one where it has to know the port of a server before the server binds it. A port that was found with a
/// socket that is closed again could belong to another program a moment later.
///
/// A socket that does not listen is bound to the port, so the kernel chooses the port neither for other sockets nor for
/// connections. The socket has `SO_REUSEADDR`: a server that sets this option too can bind the port and listen. Until
/// then connections are refused.
public final class ReservedPort: Sendable {
  /// The kernel has no free port or descriptor.
  public struct Unavailable: Error {}

  /// The port.
  public let number: Int
  private let descriptor: Int32

  /// Reserves a port that the kernel chooses.
  public init() throws(Unavailable) {
    // Programs that a test starts must not keep the port.
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Unavailable() }
    var isReusable: Int32 = 1
    unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_REUSEADDR, &isReusable, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe bind(descriptor, pointer, length) == 0 && getsockname(descriptor, pointer, &length) == 0
      }
    }
    guard isBound else {
      close(descriptor)
      throw Unavailable()
    }
    self.descriptor = descriptor
    number = Int(UInt16(bigEndian: address.sin_port))
  }

  deinit { close(descriptor) }
}
