import Reactor
import Synchronization
public import Time

/// The servers of the upstream and their current addresses, shared by all workers of a process.
public final class UpstreamServers: Sendable {
  /// The maximum number of addresses in use. It bounds the number of metrics, and the time of a choice.
  public static let maximumAddresses = 16
  /// The interval at which a worker with requests asks for changed answers of the names.
  private static let refreshInterval: Milliseconds = 1_000

  private struct State {
    var addresses: [UpstreamAddress] = []
    var version = 0
  }

  /// The places of the servers, as configured.
  public let locations: [ServerLocation]
  private let state = Mutex(State())

  /// Creates the servers at `locations`, of which there is at least one.
  public init(_ locations: [ServerLocation]) {
    self.locations = locations
  }

  /// The interval at which a worker asks for changed answers; `nil` if the addresses never change.
  var refreshInterval: Milliseconds? {
    let intervals = locations.compactMap { location in
      if case .name(let resolver) = location, !resolver.isLiteral {
        min(UpstreamServers.refreshInterval, resolver.freshness)
      } else {
        nil
      }
    }
    return intervals.min()
  }

  /// The current addresses; empty while no name was resolved yet.
  public var addresses: [UpstreamAddress] { state.withLock { $0.addresses } }

  /// Returns true if requests to another address than `address` may succeed: no request or connection has failed there. An
  /// address that only fails its active checks counts, because it may serve other paths.
  func hasOther(than address: UpstreamAddress) -> Bool {
    addresses.contains { $0 !== address && !$0.hasOutage }
  }

  /// Adopts the latest answers of the names, and starts look-ups in the background for answers that are no longer fresh.
  /// Returns the addresses, with a number that changes with them.
  @discardableResult
  public func refresh(now: MonotonicTime) -> (addresses: [UpstreamAddress], version: Int) {
    let places = UpstreamServers.unique(locations.flatMap { UpstreamServers.places(of: $0, now) })
      .prefix(UpstreamServers.maximumAddresses)
    return state.withLock { state in
      if Set(places) != Set(state.addresses.map(\.place)) {
        // Known addresses keep their order: many name servers rotate their answers.
        state.addresses.removeAll { !places.contains($0.place) }
        for place in places where !state.addresses.contains(where: { $0.place == place }) {
          state.addresses.append(UpstreamServers.makeAddress(place, state.addresses))
        }
        state.version += 1
      }
      return (state.addresses, state.version)
    }
  }

  private static func unique(_ places: [UpstreamAddress.Place]) -> [UpstreamAddress.Place] {
    var seen: Set<UpstreamAddress.Place> = []
    return places.filter { seen.insert($0).inserted }
  }

  private static func makeAddress(_ place: UpstreamAddress.Place, _ known: [UpstreamAddress]) -> UpstreamAddress {
    let hash = UpstreamAddress.hash(place.name.utf8)
    var id = UInt16(truncatingIfNeeded: hash ^ hash >> 16 ^ hash >> 32 ^ hash >> 48)
    while known.contains(where: { $0.id == id }) { id &+= 1 }
    return UpstreamAddress(place, id: id)
  }

  private static func places(of location: ServerLocation, _ now: MonotonicTime) -> [UpstreamAddress.Place] {
    switch location {
    case .unixSocket(let path): [.unixSocket(path: path)]
    case .name(let resolver): interleave(resolver.cachedAddresses(now: now) ?? []).map { .socket($0) }
    }
  }

  /// Returns the addresses so that the families alternate, beginning with that of the first address (RFC 8305,
  /// section 4). The order within a family stays.
  static func interleave(_ addresses: [Address]) -> [Address] {
    guard let first = addresses.first else { return [] }
    let same = addresses.filter { $0.isIPv6 == first.isIPv6 }
    let other = addresses.filter { $0.isIPv6 != first.isIPv6 }
    return (0..<max(same.count, other.count)).flatMap { same.dropFirst($0).prefix(1) + other.dropFirst($0).prefix(1) }
  }
}
