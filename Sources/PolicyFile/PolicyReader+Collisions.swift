import OAuth
import Policy
import YAML

extension PolicyReader {
  /// Reports an admin listener that needs the same address as another listener, and an upstream URL that is a listener
  /// of the gateway itself.
  func lintAddresses() {
    if let place = adminPlace, let admin = gateway?.admin,
      let listener = listenerPlaces.first(where: { Self.collide($0.address, admin) })
    {
      report(
        .duplicateValue, .error, place,
        "`admin` and the listener in line \(listener.place.mark.line) both need port \(admin.port); give one of them "
          + "another port")
    }
    if let place = upstreamURLPlace, let origin = upstream?.origin, origin.isLoopback {
      let address = SocketAddress(host: origin.host == "localhost" ? "127.0.0.1" : origin.host, port: origin.port)
      if let listener = listenerPlaces.first(where: { Self.collide($0.address, address) }) {
        report(
          .conflict, .error, place,
          "`url` is the gateway's own listener in line \(listener.place.mark.line), so requests would loop; "
            + "use the address of the server")
      }
    }
  }

  /// Returns true if a socket that listens on one of the addresses gets connections to the other, or if both cannot
  /// listen at the same time.
  private static func collide(_ left: SocketAddress, _ right: SocketAddress) -> Bool {
    guard left.port == right.port, left.port != 0 else { return false }
    let areSameFamily = left.host.contains(":") == right.host.contains(":")
    return areSameFamily && (left.host == right.host || isWildcard(left) || isWildcard(right))
  }

  private static func isWildcard(_ address: SocketAddress) -> Bool { address.host == "0.0.0.0" || address.host == "::" }

  /// Reports a policy without `sealing_keys`. This is an error if the gateway seals (encrypts) refresh tokens and is
  /// not on loopback, and otherwise a warning.
  ///
  /// A key in the memory of one process is lost at a restart, after which the gateway can no longer open the refresh
  /// tokens that it has sealed. It answers 503 to them, so apps would retry for ever instead of signing in.
  func lintEphemeralKey() {
    guard let place = ephemeralKeyPlace, let gateway else { return }
    let sealsRefreshTokens = clients.sealsRefreshTokens && !gateway.origin.isLoopback
    report(
      .ephemeralKey, sealsRefreshTokens ? .error : .warning, place,
      sealsRefreshTokens
        ? "without `sealing_keys` every restart signs all users of the apps out; add `sealing_keys: { file: PATH }` "
          + "(`proofgate keys generate --file PATH` creates the file)"
        : "without `sealing_keys` every restart ends the sign-ins in progress; add `sealing_keys: { file: PATH }`")
  }
}
