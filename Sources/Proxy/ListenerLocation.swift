public import Reactor

/// The place at which a proxy accepts connections.
public enum ListenerLocation: Sendable {
  /// An IP address and port. With port 0 the kernel chooses a port.
  case address(Address)
  /// A Unix-domain socket.
  case unixSocket(UnixListener)

  /// The Unix-domain socket, if it is one.
  var unixListener: UnixListener? {
    if case .unixSocket(let listener) = self { listener } else { nil }
  }

  /// The place as text, such as `127.0.0.1:8080` or `unix:/run/proofgate.sock`.
  public var name: String {
    switch self {
    case .address(let address): address.description
    case .unixSocket(let listener): "unix:\(listener.path)"
    }
  }

  /// Returns listening sockets for `count` workers: the inherited ones of this place, or new ones. The socket at
  /// position `n` is for the worker with the index `n % count`.
  func open(
    count: Int, id: Int, inherited: InheritedListeners
  ) throws(IOError) -> (sockets: [ListeningSocket], isActivated: Bool) {
    let available = inherited.take(at: name)
    let isActivated = available.contains { !$0.isStored }
    guard !available.isEmpty, try isReachable(available, isActivated: isActivated) else {
      return (try bind(count: count, id: id), false)
    }
    return (try ListeningSocket.inherit(available, count: count, id: id, peer: unixListener?.peer), isActivated)
  }

  /// Returns false, and ends the sockets, if they are from the descriptor store and the file of the Unix socket is gone,
  /// for example because systemd has removed its directory. Otherwise a stored socket gets the mode and owner of the
  /// policy. The mode and owner of a socket unit stay.
  private func isReachable(_ sockets: [InheritedSocket], isActivated: Bool) throws(IOError) -> Bool {
    guard let unixListener, !isActivated else { return true }
    guard unixListener.hasFile else {
      for socket in sockets { socket.end() }
      return false
    }
    try unixListener.restoreFileMode()
    return true
  }

  private func bind(count: Int, id: Int) throws(IOError) -> [ListeningSocket] {
    switch self {
    case .address(let address): try ListeningSocket.bind(address, count: count, id: id)
    case .unixSocket(let listener): try ListeningSocket.bind(listener, count: count, id: id)
    }
  }
}
