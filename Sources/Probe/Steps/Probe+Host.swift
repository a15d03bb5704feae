import Policy

extension Probe {
  /// Finds out whether the server answers with the host of its URL, the public host, or both. All later requests have a host
  /// with which it answers.
  ///
  /// Frameworks refuse other hosts than those that they are configured for, on every path.
  func findHost() async throws(ProbeStop) {
    guard let gateway = options.gateway, gateway.authority != options.target.origin.authority else { return }
    let page = ProbeRequest(.get, options.target.folder + "/")
    guard case .success(let own) = try await session.ask(page) else { return }
    session.host = gateway.authority
    defer { if observations.host != .publicOnly { session.host = nil } }
    guard case .success(let other) = try await session.ask(page) else { return }
    let (ownRank, publicRank) = (Probe.rank(own.status), Probe.rank(other.status))
    observations.host = ownRank == publicRank ? .both : ownRank < publicRank ? .publicOnly : .upstreamOnly
  }

  /// Returns how well a status shows that the server accepts the host: a page or a redirect best, and the refusals of
  /// frameworks (400, 403, 421) least.
  private static func rank(_ status: Int) -> Int {
    switch status {
    case 400, 403, 421: 0
    default: status < 400 ? 2 : 1
    }
  }
}
