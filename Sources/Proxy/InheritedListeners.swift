public import Reactor
import Synchronization

/// The listening sockets that a service manager has passed to this process, until listeners take them.
public final class InheritedListeners: Sendable {
  private let sockets: Mutex<[InheritedSocket]>

  /// Creates a list of these sockets.
  public init(_ sockets: [InheritedSocket] = []) {
    self.sockets = Mutex(sockets)
  }

  /// Removes and returns the sockets of a place, such as `127.0.0.1:8080` or `unix:/run/proofgate.sock`.
  func take(at place: String) -> [InheritedSocket] {
    sockets.withLock { sockets in
      let taken = sockets.filter { $0.place == place }
      sockets.removeAll { $0.place == place }
      return taken
    }
  }

  /// Removes and returns the sockets of all places but these.
  public func takeAll(except places: Set<String>) -> [InheritedSocket] {
    sockets.withLock { sockets in
      let taken = sockets.filter { !places.contains($0.place) }
      sockets.removeAll { !places.contains($0.place) }
      return taken
    }
  }
}

/// The sockets of a running listener.
public struct BoundListener: Sendable {
  /// The place as text, as in `ProxyServer.names`.
  public let name: String
  /// The sockets, without descriptors of the same socket.
  public let sockets: [ListeningSocket]
  /// True if the sockets are those of a socket unit, which the service manager keeps open.
  public let isActivated: Bool

  /// Sets the timers of the connections that are accepted from now on. Call it only before the server drains.
  public func setTimers(_ timers: TCPTimers) {
    for socket in sockets { socket.setTimers(timers) }
  }
}
