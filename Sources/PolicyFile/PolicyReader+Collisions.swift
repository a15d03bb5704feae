import OAuth
import Policy
import YAML

extension PolicyReader {
  /// Reports an admin listener that cannot listen because another listener needs the same port, and an upstream URL
  /// with the address of one of the gateway's own listeners.
  func lintAddresses() {
    if let location = adminLocation, let admin = gateway?.admin,
      let listener = listenerLocations.first(where: { Self.collide($0.address, admin) })
    {
      report(
        .duplicateValue, .error, location,
        "`admin` and the listener in line \(listener.location.mark.line) both need port \(admin.port); give one of "
          + "them another port")
    }
    if let location = upstreamURLLocation, let listener = listenerLocations.first(where: { isUpstream($0.address) }) {
      report(
        .conflict, .error, location,
        "`url` is the gateway's own listener in line \(listener.location.mark.line), so requests would loop; "
          + "use the address of the server")
    }
  }

  /// Returns true if connections to the upstream would reach the listener.
  private func isUpstream(_ listener: ListenerAddress) -> Bool {
    (upstream?.servers ?? []).contains { server in
      switch server {
      case .unixSocket(let path): return listener == .unixSocket(path: path)
      case .origin(let origin):
        guard origin.isLoopback else { return false }
        return Self.collide(
          listener, SocketAddress(host: origin.host == "localhost" ? "127.0.0.1" : origin.host, port: origin.port))
      }
    }
  }

  /// Returns true if a socket that listens on one of the addresses also gets connections to the other address, or if
  /// sockets cannot listen on both addresses at the same time.
  static func collide(_ left: ListenerAddress, _ right: SocketAddress) -> Bool {
    guard let left = left.socketAddress, left.port == right.port, left.port != 0 else { return false }
    let areSameFamily = left.host.contains(":") == right.host.contains(":")
    let (first, second) = (AddressText.parse(left.host[...]), AddressText.parse(right.host[...]))
    return areSameFamily && (first == second || isWildcard(left) || isWildcard(right))
  }

  private static func isWildcard(_ address: SocketAddress) -> Bool {
    AddressText.parse(address.host[...]).map { bytes in
      (address.host.contains(":") ? bytes[...] : bytes.suffix(4)).allSatisfy { $0 == 0 }
    } ?? false
  }

  /// Reports a policy without `sealing_keys`. This is an error if the gateway seals (encrypts) refresh tokens and its
  /// origin is not on loopback, and otherwise a warning.
  ///
  /// Without `sealing_keys`, the key is only in the memory of the process. After a restart, the gateway cannot open the
  /// refresh tokens that it has sealed with this key, and answers 503 to requests with them. Apps would then retry for
  /// ever instead of signing in again.
  func lintEphemeralKey() {
    guard let location = ephemeralKeyLocation, let gateway else { return }
    let isError =
      (clients.sealsRefreshTokens || registration != nil || clientDocuments != nil) && !gateway.origin.isLoopback
    report(
      .ephemeralKey, isError ? .error : .warning, location,
      isError
        ? "without `sealing_keys` every restart signs all users of the apps out; add `sealing_keys: { file: PATH }` "
          + "(`proofgate keys generate --file PATH` creates the file)"
        : "without `sealing_keys` every restart ends the sign-ins in progress; add `sealing_keys: { file: PATH }`")
  }
}
