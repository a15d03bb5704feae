/// One address of the upstream as a worker uses it.
final class UpstreamTarget {
  let address: UpstreamAddress
  let counters: UpstreamAddressCounters
  /// The connections of this worker to the address, idle or in use.
  var open = 0
  /// The part of `open` that is idle.
  var idle = 0
  /// The number of requests for which a connection to the address was tried first and is not established yet.
  var connecting = 0
  /// True if the name of the server no longer has the address. Its connections end after their current request.
  var isGone = false

  init(_ address: UpstreamAddress) {
    self.address = address
    counters = address.makeCounters()
  }

  /// The number of requests in progress.
  var outstanding: Int { open - idle + connecting }
}

/// The rule by which an address is chosen for a request if there are several.
public enum UpstreamAffinity: Equatable, Sendable {
  /// The first address in service: others are used only while it is out of service.
  case first
  /// The address with the fewest requests in progress.
  case leastOutstanding
  /// An address that follows from the client's address.
  case clientAddress
  /// The address that set the cookie with this name; for a request without one, that with the fewest requests in
  /// progress.
  case cookie(String)
}

/// The address that suits a request.
enum AddressPreference: Equatable {
  /// No particular address: the rule of the configuration applies.
  case none
  /// The address that follows from this hash (rendezvous hashing), so that only the requests of a removed address move.
  case hash(UInt64)
  /// The address with this id.
  case id(UInt16)
}
