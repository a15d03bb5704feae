import Reactor
import Synchronization

/// Counts the client connections of the process, in total and per address, for all workers.
public final class ConnectionLimits: Sendable {
  /// A part of the counts per address, with its own lock. Several parts keep workers from waiting for each other.
  private final class Shard: Sendable {
    let counts = Mutex<[UInt64: Int]>([:])
  }

  private let total = Atomic<Int>(0)
  private let shards = (0..<16).map { _ in Shard() }

  /// Starts with no connections.
  public init() {}

  /// Counts a connection. Returns false if there are now more than `limit` connections; the connection is counted in
  /// either case.
  func enter(limit: Int) -> Bool {
    total.wrappingAdd(1, ordering: .relaxed).newValue <= limit
  }

  func leave() {
    total.wrappingSubtract(1, ordering: .relaxed)
  }

  /// Counts a connection of `address`. Returns false, without counting it, if there are already `limit` connections.
  func enter(_ address: Address, limit: Int) -> Bool {
    let key = ConnectionLimits.key(address)
    return shard(key).counts.withLock { counts in
      let count = counts[key, default: 0]
      guard count < limit else { return false }
      counts[key] = count + 1
      return true
    }
  }

  func leave(_ address: Address) {
    let key = ConnectionLimits.key(address)
    shard(key).counts.withLock { counts in
      // Remove an address without connections, so that the memory is bounded by the number of open connections.
      guard let count = counts[key], count > 1 else {
        counts[key] = nil
        return
      }
      counts[key] = count - 1
    }
  }

  /// Returns the shard of a key: the first four bits of a multiplicative hash choose one of the 16.
  private func shard(_ key: UInt64) -> Shard {
    shards[Int(truncatingIfNeeded: (key &* 0x9e37_79b9_7f4a_7c15) >> 60)]
  }

  /// Returns the part of an address by which clients are counted: an IPv4 address, or the first 64 bits of an IPv6
  /// address, because one client may use all addresses of a /64 prefix.
  static func key(_ address: Address) -> UInt64 {
    let bytes = address.mappedBytes
    let isIPv4 = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xff && bytes[11] == 0xff
    return (isIPv4 ? bytes[8...] : bytes[..<8]).reduce(0) { $0 << 8 | UInt64($1) }
  }
}

/// The entries of one connection in `ConnectionLimits`, which are removed when this object is freed.
final class Admission {
  private let limits: ConnectionLimits
  /// The client address for which the connection is counted, if any.
  private var countedAddress: Address?
  /// True if the total number of connections was within its limit when this connection was counted.
  let isWithinTotal: Bool

  init(_ limits: ConnectionLimits, totalLimit: Int) {
    self.limits = limits
    isWithinTotal = limits.enter(limit: totalLimit)
  }

  deinit {
    if let countedAddress { limits.leave(countedAddress) }
    limits.leave()
  }

  /// Counts the connection for the address of its client. Returns false if that address has too many connections, or if
  /// this connection is already counted for an address.
  func countConnection(for address: Address, limit: Int) -> Bool {
    guard countedAddress == nil, limits.enter(address, limit: limit) else { return false }
    countedAddress = address
    return true
  }
}
