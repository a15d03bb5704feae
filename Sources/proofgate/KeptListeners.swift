import Gateway
import Policy
import Proxy
import Reactor

/// The listeners whose sockets the service manager keeps while no process serves: those of a socket unit, and those in
/// its descriptor store. At the end of the process, their waiting connections stay in the queue for the next process.
final class KeptListeners {
  private let manager: ServiceManager
  private let listeners: [BoundListener]
  private var stored: Set<String> = []

  init(_ manager: ServiceManager, _ listeners: [BoundListener]) {
    self.manager = manager
    self.listeners = listeners
  }

  /// The names of the listeners.
  var names: Set<String> { stored.union(listeners.filter(\.isActivated).map(\.name)) }

  /// Makes the descriptor store contain the sockets of the listeners that the policy lists, and no others. A listener
  /// that the store cannot take whole is left out, because the queue of a missing socket would be lost. Returns warnings.
  func update(for policy: Policy) -> [String] {
    guard manager.storeCapacity > 0 else { return [] }
    let listed = policy.listenerPlaces
    var warnings: [String] = []
    for listener in listeners where stored.contains(listener.name) && !listed.contains(listener.name) {
      manager.removeFromStore(InheritedSocket.storedName(of: listener.name))
      stored.remove(listener.name)
    }
    var free = manager.storeCapacity
    for listener in listeners where stored.contains(listener.name) { free -= listener.sockets.count }
    for listener in listeners
    where listed.contains(listener.name) && !listener.isActivated && !stored.contains(listener.name) {
      if listener.sockets.count > free {
        warnings.append(
          "the service manager cannot keep the \(listener.sockets.count) sockets of \(listener.name) for a restart; "
            + "set `FileDescriptorStoreMax=` to at least the number of listeners times that of workers")
        continue
      }
      do throws(IOError) {
        try manager.store(listener)
        stored.insert(listener.name)
        free -= listener.sockets.count
      } catch {
        warnings.append("the service manager cannot keep the sockets of \(listener.name) for a restart: \(error)")
      }
    }
    return warnings
  }
}

extension InheritedListeners {
  /// Takes over the sockets that the service manager passes to this process. Ends stored sockets that the policy no
  /// longer lists, and informs the operator.
  ///
  /// Throws: a socket of a socket unit is at no place of the policy, or is no listening socket.
  static func taken(
    for policy: Policy, from manager: ServiceManager, environment: [String: String]
  ) throws(InheritedSocket.Failure) -> InheritedListeners {
    let sockets = try InheritedSocket.all(environment: environment, process: ProcessControl.identifier)
    if let process = environment["LISTEN_PID"], environment["LISTEN_FDS"] != nil,
      process != "\(ProcessControl.identifier)"
    {
      Console.warn(
        "the service manager passes sockets to another process, as `LISTEN_PID` says; they are not used. If a shell starts "
          + "this process, let it use `exec`")
    }
    for socket in sockets where !socket.listens {
      socket.end()
      manager.removeFromStore(socket.name)
      Console.inform("the stored socket \(socket.label) no longer listens; it is closed")
    }
    let listeners = InheritedListeners(sockets.filter(\.listens))
    var unlisted: [String] = []
    for socket in listeners.takeAll(except: policy.listenerPlaces) {
      if socket.isStored {
        socket.end()
        manager.removeFromStore(socket.name)
        Console.inform("the policy no longer lists \(socket.place); its socket from the previous process is closed")
      } else {
        unlisted.append(socket.label)
      }
    }
    guard unlisted.isEmpty else {
      throw InheritedSocket.Failure(
        description: "the service manager passes sockets that no listener of the policy uses: "
          + "\(unlisted.joined(separator: ", ")); add listeners with these addresses, or change the socket unit")
    }
    return listeners
  }
}
