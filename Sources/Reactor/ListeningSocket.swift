import CLinux

/// A bound and listening socket, before a worker accepts connections from it. All listening sockets are created before
/// any worker runs, so that a port in use is a start-up error.
public struct ListeningSocket: Sendable {
  let descriptor: Int32
  /// The number of the listener. The sockets of one listener, one per worker, have the same number.
  public let id: Int
  /// The bound address, with the port that the kernel chose if port 0 was requested.
  public let address: Address
  /// The address that is used for each peer; `nil` if each peer has its own address.
  let peer: Address?
  /// True if another value refers to the same socket, so that both accept from one queue.
  public let isDuplicate: Bool

  init(descriptor: Int32, id: Int, address: Address, peer: Address? = nil, isDuplicate: Bool = false) {
    self.descriptor = descriptor
    self.id = id
    self.address = address
    self.peer = peer
    self.isDuplicate = isDuplicate
  }

  /// Binds one socket per worker to `address` and listens.
  ///
  /// The first socket binds without `SO_REUSEPORT` and sets the option afterwards. So the call fails with EADDRINUSE if
  /// another process, or another listener of this process, already uses the address. If the option were set first, the
  /// kernel could share the connections between the two users of the address.
  ///
  /// Throws: the error of the first call that fails, e.g. EADDRINUSE or EACCES.
  ///
  /// - Parameter backlog: the length of the queue of connections that were not accepted yet.
  public static func bind(
    _ address: Address, count: Int, id: Int, backlog: Int32 = 4096
  ) throws(IOError) -> [ListeningSocket] {
    var sockets: [ListeningSocket] = []
    var bound = address
    do throws(IOError) {
      for _ in 0..<max(1, count) {
        let socket = try open(bound, bindsToUsedPort: !sockets.isEmpty, id: id)
        // With port 0 the kernel chooses a port: the other sockets bind to the same one.
        bound = socket.address
        sockets.append(socket)
      }
      for socket in sockets { _ = try IOError.check(cl_listen(socket.descriptor, backlog)) }
    } catch {
      for socket in sockets { cl_close(socket.descriptor) }
      throw error
    }
    return sockets
  }

  /// Binds one socket to a path or abstract name, listens, and returns one descriptor of it per worker. All workers
  /// accept from the same queue, because a path names one socket; `SO_REUSEPORT` has no effect on it.
  ///
  /// Removes the file of a process that has ended without removing it.
  ///
  /// Throws: the error of the first call that fails. EADDRINUSE if a process listens there, EEXIST if the path names
  /// another kind of file.
  public static func bind(_ place: UnixListener, count: Int, id: Int) throws(IOError) -> [ListeningSocket] {
    _ = try IOError.check(unsafe cl_remove_stale_unix(place.path))
    let none = UInt32.max
    var descriptors = [
      try IOError.check(
        unsafe cl_bind_unix(place.path, place.mode, place.owner?.user ?? none, place.owner?.group ?? none))
    ]
    do throws(IOError) {
      for _ in 1..<max(1, count) { descriptors.append(try IOError.check(cl_duplicate(descriptors[0]))) }
      _ = try IOError.check(cl_listen(descriptors[0], 4096))
    } catch {
      for descriptor in descriptors { cl_close(descriptor) }
      place.removeFile()
      throw error
    }
    return descriptors.enumerated().map { index, descriptor in
      ListeningSocket(
        descriptor: descriptor, id: id, address: .unixSocket, peer: place.peer, isDuplicate: index > 0)
    }
  }

  /// Takes over the inherited sockets of one place. Returns all of them, and descriptors of the same sockets up to one
  /// per worker: the kernel distributes new connections among all sockets of a port, so none may be left unused.
  ///
  /// Throws: the error of the first call that fails. All descriptors are closed then.
  public static func inherit(
    _ inherited: [InheritedSocket], count: Int, id: Int, peer: Address? = nil
  ) throws(IOError) -> [ListeningSocket] {
    var sockets = inherited.map {
      ListeningSocket(descriptor: $0.descriptor, id: id, address: $0.address, peer: peer)
    }
    do throws(IOError) {
      for socket in sockets where !socket.address.isUnixSocket {
        _ = try IOError.check(cl_set_no_delay(socket.descriptor))
        _ = try IOError.check(cl_set_urgent_inline(socket.descriptor))
      }
      while sockets.count < count {
        let original = sockets[sockets.count % inherited.count]
        let descriptor = try IOError.check(cl_duplicate(original.descriptor))
        sockets.append(
          ListeningSocket(
            descriptor: descriptor, id: id, address: original.address, peer: peer, isDuplicate: true))
      }
      return sockets
    } catch {
      for socket in sockets { socket.close() }
      throw error
    }
  }

  private static func open(_ address: Address, bindsToUsedPort: Bool, id: Int) throws(IOError) -> ListeningSocket {
    let descriptor = try IOError.check(cl_socket(address.system.family))
    do throws(IOError) {
      _ = try IOError.check(cl_set_reuse_address(descriptor))
      // Accepted sockets inherit these options, which saves calls for each connection.
      _ = try IOError.check(cl_set_no_delay(descriptor))
      _ = try IOError.check(cl_set_urgent_inline(descriptor))
      if address.isIPv6 { _ = try IOError.check(cl_set_ipv6_only(descriptor)) }
      if bindsToUsedPort { _ = try IOError.check(cl_set_reuse_port(descriptor)) }
      var system = address.system
      _ = try IOError.check(unsafe cl_bind(descriptor, &system))
      if !bindsToUsedPort { _ = try IOError.check(cl_set_reuse_port(descriptor)) }
      var actual = cl_address()
      _ = try IOError.check(unsafe cl_local_address(descriptor, &actual))
      return ListeningSocket(descriptor: descriptor, id: id, address: Address(actual))
    } catch {
      cl_close(descriptor)
      throw error
    }
  }

  /// Closes the socket. Only for a socket that was not passed to a worker.
  public func close() {
    cl_close(descriptor)
  }
}
