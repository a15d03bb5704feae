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
  var name: String {
    switch self {
    case .address(let address): address.description
    case .unixSocket(let listener): "unix:\(listener.path)"
    }
  }

  /// Binds the place and listens. Returns one socket for each of `count` workers.
  func bind(count: Int, id: Int) throws(IOError) -> [ListeningSocket] {
    switch self {
    case .address(let address): try ListeningSocket.bind(address, count: count, id: id)
    case .unixSocket(let listener): try ListeningSocket.bind(listener, count: count, id: id)
    }
  }
}
