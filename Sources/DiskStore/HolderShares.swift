internal import Stores

/// The bytes and entries that each holder (`StoreHolder`) has among the entries of one kind (`StoreKind`) whose values
/// vary in length. A holder is the client and network that entries are charged to.
struct HolderShares {
  /// The bytes and entries of one holder.
  private struct Share {
    var bytes = 0
    var count = 0
  }

  /// The shares by `StoreHolder.fingerprint`.
  private var shares: [UInt64: Share] = [:]
  /// The holders with more than `EntryTable.protectedEntries` entries. Only their entries may be evicted for other
  /// holders.
  private var largeHolders: Set<UInt64> = []

  /// The bytes and number of the entries of all unlisted clients (`StoreHolder.isUnlisted`).
  private(set) var unlisted = (bytes: 0, count: 0)

  /// Returns the bytes of the holder's entries.
  func bytes(_ holder: UInt64) -> Int { shares[holder]?.bytes ?? 0 }
  /// Returns the number of the holder's entries.
  func count(_ holder: UInt64) -> Int { shares[holder]?.count ?? 0 }

  /// The holder whose oldest entry is evicted if the space for entries of this kind is full: the one of `largeHolders`
  /// with the most bytes; `nil` if there is no large holder.
  var largest: UInt64? { largeHolders.max { bytes($0) < bytes($1) } }

  /// Adds entries of a holder, or only bytes if `count` is 0. `bytes` is negative if an entry has become shorter.
  mutating func add(_ holder: UInt64, bytes: Int, count: Int) {
    var share = shares[holder] ?? Share()
    share.bytes += bytes
    share.count += count
    shares[holder] = share
    countUnlisted(holder, bytes: bytes, count: count)
    if share.count > EntryTable.protectedEntries { largeHolders.insert(holder) }
  }

  /// Removes one entry of a holder.
  mutating func remove(_ holder: UInt64, bytes: Int) {
    guard var share = shares[holder] else { return }
    share.bytes -= bytes
    share.count -= 1
    countUnlisted(holder, bytes: -bytes, count: -1)
    shares[holder] = share.count == 0 ? nil : share
    if share.count <= EntryTable.protectedEntries { largeHolders.remove(holder) }
  }

  private mutating func countUnlisted(_ holder: UInt64, bytes: Int, count: Int) {
    guard StoreHolder.isUnlisted(holder) else { return }
    unlisted.bytes += bytes
    unlisted.count += count
  }
}
