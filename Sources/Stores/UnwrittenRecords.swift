internal import OAuth
internal import Synchronization
internal import Time

/// The records of codes and families that this process has decided on, and that the store could not write. The store
/// writes them as soon as it answers again (`EphemeralStore.replaceLater`). Until then it has the records that they
/// replace, so the ledgers read through `current`, and a code or token that was used up is not accepted again.
///
/// At most `maximum` records are kept; only expired ones are removed to make room. The records are lost with the process.
final class UnwrittenRecords: Sendable {
  /// The maximum number of records, which use about 1 MiB.
  static let maximum = 4_096

  private struct Record {
    let old: [UInt8]
    let new: [UInt8]
    let expiry: UnixTime
  }

  private let records = Mutex<[TransactionID: Record]>([:])

  /// Adds the record `new` of a code or family, for which the store may still have `old`.
  func add(_ id: TransactionID, replacing old: [UInt8], by new: [UInt8], expiry: UnixTime, now: UnixTime) {
    records.withLock { records in
      if records.count >= UnwrittenRecords.maximum { records = records.filter { $0.value.expiry > now } }
      guard records.count < UnwrittenRecords.maximum || records[id] != nil else { return }
      records[id] = Record(old: old, new: new, expiry: expiry)
    }
  }

  /// Returns the record of a code or family that the store may lack; `nil` if there is none.
  func record(of id: TransactionID, now: UnixTime) -> [UInt8]? {
    records.withLock { records in records[id].flatMap { $0.expiry > now ? $0.new : nil } }
  }

  /// Returns the record of a code or family that replaces `stored`, the record in the store; `stored` if there is none.
  func current(_ id: TransactionID, _ stored: [UInt8]) -> [UInt8] {
    records.withLock { records in records[id].flatMap { $0.old == stored ? $0.new : nil } ?? stored }
  }
}
