/// Counts the TLS records that one connection reads, and limits their number.
///
/// A peer can send a record without application data (a KeyUpdate, a refused renegotiation, an alert) with about 27
/// bytes, but this side then has to change keys or respond. Neither RFC 8446, section 4.6.3, nor OpenSSL limits the
/// number of KeyUpdates. A legitimate peer sends one only after gigabytes of data.
struct RecordBudget {
  /// The maximum number of consecutive records without application data. One more such record ends the connection.
  static let recordsWithoutDataLimit = 32
  /// The maximum number of records that are read in one turn of the event loop. A connection may read 64 KiB in a turn,
  /// and many senders use records of 1 KiB.
  static let recordsPerTurn = 64

  /// The number of records without application data since the last application data.
  private(set) var recordsWithoutData = 0
  private var recordsInTurn = 0
  private var turn: UInt64 = 0

  /// True if the peer has sent too many records without application data.
  var isFlooded: Bool { recordsWithoutData > RecordBudget.recordsWithoutDataLimit }
  /// True if further records must wait for the next turn.
  var isUsedUpThisTurn: Bool { recordsInTurn >= RecordBudget.recordsPerTurn }

  /// Restarts the count of records if `turn` is a new turn of the event loop.
  mutating func begin(turn: UInt64) {
    guard turn != self.turn else { return }
    self.turn = turn
    recordsInTurn = 0
  }

  mutating func countRecord() { recordsInTurn += 1 }
  mutating func countRecordWithoutData() { recordsWithoutData += 1 }
  mutating func receivedData() { recordsWithoutData = 0 }
}

/// Counts and limits the socket reads within one call of OpenSSL, and records if the socket has no more bytes.
struct SocketReads {
  /// The maximum number of reads in one call. Two reads are enough to fill OpenSSL's buffer, which holds one record of
  /// the maximum size.
  private static let readsPerCall: Int32 = 2

  /// The number of further reads that the current call may make; `Int32.max` means no limit, as in a handshake.
  private var remaining = Int32.max
  /// True if the last read has returned all bytes that the kernel had, and no event has reported new bytes since.
  var isDrained = false
  /// True if a read of this call found no bytes.
  var foundNoBytes = false

  /// Limits the reads of the next call. Without a limit, OpenSSL could read record after record in one call if they
  /// contain no application data.
  mutating func setLimit() {
    remaining = SocketReads.readsPerCall
    foundNoBytes = false
  }

  mutating func removeLimit() { remaining = .max }

  /// Counts a read and returns true, or returns false if the limit permits no further read.
  mutating func countRead() -> Bool {
    if remaining == 0 { return false }
    if remaining != .max { remaining -= 1 }
    return true
  }

  var isLimitReached: Bool { remaining == 0 }
}
