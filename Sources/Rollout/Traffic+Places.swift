/// The places of clients.
extension Traffic {
  /// The number of ids above the limit at which the least used are removed. They are removed together, because each
  /// removal looks at all ids.
  static let unprovenMargin = 2_000

  /// Adds a request of a client.
  mutating func add(_ seen: SeenRequest, of id: String) {
    let isListed = listed.contains(id)
    if clients[id] == nil, !isListed {
      if unprovenCount >= Traffic.maximumClients + Traffic.unprovenMargin { removeLeastUsed() }
      unprovenCount += 1
    }
    clients[id, default: ClientTraffic(id: id, time: seen.time, network: seen.network)].add(seen)
    guard seen.provesClient, !isListed, clients[id]?.isProven == false, provenCount < Traffic.maximumClients else {
      return
    }
    clients[id]?.isProven = true
    unprovenCount -= 1
    provenCount += 1
  }

  /// Removes ids that neither the policy nor the server knows until ``maximumClients`` of them are left. The networks with
  /// the most ids lose those with the fewest requests; of equally frequent ones, those with the earliest last request.
  public mutating func removeLeastUsed() {
    var networks: [String: [ClientTraffic]] = [:]
    for client in clients.values where !client.isProven && !listed.contains(client.id) {
      networks[client.network, default: []].append(client)
    }
    let excess = networks.values.reduce(0) { $0 + $1.count } - Traffic.maximumClients
    guard excess > 0 else { return }
    let part = Traffic.fairPart(of: Traffic.maximumClients, networks.values.map(\.count))
    // Each network keeps `part` of its ids. The most frequent of the others take the places that are left.
    var others: [ClientTraffic] = []
    for ids in networks.values where ids.count > part {
      others += ids.sorted { $1.rank < $0.rank }.dropFirst(part)
    }
    for client in others.sorted(by: { $0.rank < $1.rank }).prefix(excess) {
      omittedRequests += client.all.requests
      unprovenCount -= 1
      clients[client.id] = nil
    }
  }

  /// Returns the largest number of places that each holder may keep, so that all together keep at most `places`.
  static func fairPart(of places: Int, _ counts: [Int]) -> Int {
    var (free, holders) = (places, counts.count)
    for count in counts.sorted() {
      guard count * holders <= free else { return free / holders }
      free -= count
      holders -= 1
    }
    return places
  }
}

extension ClientTraffic {
  /// The order in which ids are removed.
  fileprivate var rank: (requests: Int, last: String, id: String) { (all.requests, all.last, id) }
}

extension SeenRequest {
  /// The network of the client: the first three numbers of an IPv4 address, or three groups of an IPv6 address.
  fileprivate var network: String {
    let separator: Character = peer.contains(":") ? ":" : "."
    return peer.split(separator: separator, omittingEmptySubsequences: false).prefix(3)
      .joined(separator: String(separator))
  }
}
