import Reactor

/// The reason why a process does not start: with its limit of descriptors, it would listen and accept no connection.
struct DescriptorShortage: CustomStringConvertible {
  private let limit: Int
  private let needed: Int

  /// `nil` if the descriptors suffice.
  ///
  /// - Parameter workers: The number of workers. Each needs room for one client and for one connection to the upstream.
  init?(workers: Int) {
    limit = Descriptors.limitInForce
    needed = Descriptors.needed(connections: 2 * workers)
    guard limit < needed else { return nil }
  }

  /// The limit, the number needed, and what to do.
  var description: String {
    "cannot start: this process may open \(limit) files, and needs at least \(needed); raise the hard limit with "
      + "`ulimit -n`, or with `LimitNOFILE=` of the systemd unit"
  }
}
