import FoundationEssentials
import Policy
import Proxy
import Reactor

extension ListenerSettings {
  /// Returns the place at which the listener accepts connections.
  ///
  /// Throws `ServerError` if the address is not an IP address, or if this machine does not know the user or group of a
  /// Unix-domain socket.
  func location() throws(ServerError) -> ListenerLocation {
    switch address {
    case .tcp(let socketAddress):
      guard let literal = Address(literal: socketAddress.host, port: socketAddress.port) else {
        throw ServerError(listener: address.description, problem: "write an IP address and a port")
      }
      return .address(literal)
    case .unixSocket(let path):
      return .unixSocket(
        UnixListener(
          path: path, mode: unixSocket.mode, owner: try owner(),
          peer: unixSocket.isLocal ? .loopback : .unixSocket))
    }
  }

  private func owner() throws(ServerError) -> UnixListener.Owner? {
    guard let owner = unixSocket.owner else { return nil }
    return UnixListener.Owner(
      user: try number(owner.user, kind: "user", file: "/etc/passwd"),
      group: try number(owner.group, kind: "group", file: "/etc/group"))
  }

  /// Returns the number of a user or group. The file is read directly, because a static program cannot use the name
  /// services of the C library.
  private func number(_ name: String?, kind: String, file: String) throws(ServerError) -> UInt32? {
    guard let name else { return nil }
    if let number = UInt32(name), number < .max { return number }
    let lines = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
    for line in lines.split(separator: "\n") {
      let fields = line.split(separator: ":", omittingEmptySubsequences: false)
      if fields.count > 2, fields[0] == name, let number = UInt32(fields[2]) { return number }
    }
    throw ServerError(
      listener: address.description,
      problem: "\(file) has no \(kind) `\(name)`; create it, or write the number of the \(kind)")
  }
}

extension Policy {
  /// The places of all listeners, as `InheritedSocket.place` has them.
  public var listenerPlaces: Set<String> {
    let addresses = [gateway.admin].compactMap(\.self) + resources.all.compactMap(\.check)
    var places = Set(addresses.compactMap { Address(literal: $0.host, port: $0.port)?.description })
    for listener in gateway.listeners {
      switch listener.address {
      case .tcp(let address):
        if let literal = Address(literal: address.host, port: address.port) { places.insert(literal.description) }
      case .unixSocket(let path): places.insert("unix:\(path)")
      }
    }
    return places
  }
}
