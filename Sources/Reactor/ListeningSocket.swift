import CLinux

/// A bound listening socket, not yet accepting: made before any worker runs, so that a port in use is a start-up error.
public struct ListeningSocket: Sendable {
  let descriptor: Int32
  /// Tells listeners of one worker apart.
  public let id: Int
  public let address: Address

  /// Binds one socket for each worker to `address` and listens.
  ///
  /// The first binds without `SO_REUSEPORT` and sets it then, so that another process (or another listener of this
  /// one) gets "address in use" instead of a share of the connections.
  ///
  /// Throws: the error of the first call that fails, e.g. EADDRINUSE, EACCES.
  public static func bind(_ address: Address, count: Int, id: Int) throws(IOError) -> [ListeningSocket] {
    var sockets: [ListeningSocket] = []
    var bound = address
    do throws(IOError) {
      for _ in 0..<max(1, count) {
        let socket = try open(bound, sharesPort: !sockets.isEmpty, id: id)
        // With port 0 the kernel chose one: the others join it.
        bound = socket.address
        sockets.append(socket)
      }
      for socket in sockets { _ = try IOError.check(cl_listen(socket.descriptor, 4096)) }
    } catch {
      for socket in sockets { cl_close(socket.descriptor) }
      throw error
    }
    return sockets
  }

  private static func open(_ address: Address, sharesPort: Bool, id: Int) throws(IOError) -> ListeningSocket {
    let descriptor = try IOError.check(cl_socket(address.system.family))
    do throws(IOError) {
      _ = try IOError.check(cl_set_reuse_address(descriptor))
      // Inherited by what is accepted: one call less for each connection.
      _ = try IOError.check(cl_set_no_delay(descriptor))
      _ = try IOError.check(cl_set_urgent_inline(descriptor))
      if address.isIPv6 { _ = try IOError.check(cl_set_ipv6_only(descriptor)) }
      if sharesPort { _ = try IOError.check(cl_set_reuse_port(descriptor)) }
      var system = address.system
      _ = try IOError.check(unsafe cl_bind(descriptor, &system))
      if !sharesPort { _ = try IOError.check(cl_set_reuse_port(descriptor)) }
      var actual = cl_address()
      _ = try IOError.check(unsafe cl_local_address(descriptor, &actual))
      return ListeningSocket(descriptor: descriptor, id: id, address: Address(actual))
    } catch {
      cl_close(descriptor)
      throw error
    }
  }

  /// Closes a socket that no worker took over.
  public func close() {
    cl_close(descriptor)
  }
}
