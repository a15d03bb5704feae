internal import Stores

/// The bytes and entries that each holder (`StoreHolder`) has in one kind whose entries can be evicted. A holder is the
/// client and network that entries are charged to.
struct HolderShares {
  private struct Holder {
    var bytes = 0
    var count = 0
  }

  private var holders: [UInt64: Holder] = [:]
  /// The holders with more than `EntryTable.protectedEntries` entries. Only their entries may be evicted for other
  /// holders.
  private var large: Set<UInt64> = []

  /// Returns the bytes of the holder's entries.
  func bytes(_ holder: UInt64) -> Int { holders[holder]?.bytes ?? 0 }
  /// Returns the number of the holder's entries.
  func count(_ holder: UInt64) -> Int { holders[holder]?.count ?? 0 }

  /// The holder whose oldest entry is evicted if the share is full: the one of `large` with the most bytes; `nil` if
  /// `large` is empty.
  var largest: UInt64? { large.max { bytes($0) < bytes($1) } }

  /// Adds entries of a holder, or only bytes if `count` is 0. `bytes` is negative if an entry has become shorter.
  mutating func add(_ holder: UInt64, bytes: Int, count: Int) {
    var own = holders[holder] ?? Holder()
    own.bytes += bytes
    own.count += count
    holders[holder] = own
    if own.count > EntryTable.protectedEntries { large.insert(holder) }
  }

  /// Removes one entry of a holder.
  mutating func remove(_ holder: UInt64, bytes: Int) {
    guard var own = holders[holder] else { return }
    own.bytes -= bytes
    own.count -= 1
    holders[holder] = own.count == 0 ? nil : own
    if own.count <= EntryTable.protectedEntries { large.remove(holder) }
  }
}
