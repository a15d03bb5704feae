/// The limits on the number of TLS records that one connection may read.
///
/// A record without application data (a KeyUpdate, a refused renegotiation, an alert) costs the peer about 27 bytes,
/// but costs this side a change of keys or a response. Neither RFC 8446, section 4.6.3, nor OpenSSL limits the number
/// of KeyUpdates. A legitimate peer sends one only after gigabytes of data.
struct RecordBudget {
  /// The maximum number of consecutive records without application data. One more record ends the connection.
  static let idleLimit = 32
  /// The maximum number of records that are read in one turn of the event loop. Many senders use records of 1 KiB, of
  /// which 64 amount to 64 KiB, the number of bytes that a connection may read in a turn.
  static let perTurn = 64

  /// The number of records without application data since the last application data.
  private(set) var idle = 0
  /// The number of records in this turn.
  private var readThisTurn = 0
  private var turn: UInt64 = 0

  /// True if the peer has sent too many records without application data.
  var isOverdrawn: Bool { idle > RecordBudget.idleLimit }
  /// True if further records must wait for the next turn.
  var isSpent: Bool { readThisTurn >= RecordBudget.perTurn }

  /// Restarts the count of records if `turn` is a new turn of the event loop.
  mutating func begin(turn: UInt64) {
    guard turn != self.turn else { return }
    self.turn = turn
    readThisTurn = 0
  }

  mutating func countRecord() { readThisTurn += 1 }
  mutating func countIdleRecord() { idle += 1 }
  mutating func receivedData() { idle = 0 }
}

/// Counts and limits the socket reads within one call of OpenSSL.
struct SocketReads {
  /// Two reads per call are enough to fill OpenSSL's buffer, which holds one record of the maximum size.
  private static let perCall: Int32 = 2

  /// The number of reads left; `Int32.max` means no limit, as in a handshake.
  private var left = Int32.max
  /// True if the last read has taken all bytes that the kernel had.
  var isDrained = false
  /// True if a read of this call found no bytes.
  var foundNothing = false

  /// Limits the reads of the next call. Without a limit OpenSSL could read on in the same call after it has handled a
  /// record itself.
  mutating func limit() {
    left = SocketReads.perCall
    foundNothing = false
  }

  mutating func unlimit() { left = .max }

  /// Counts a read. Returns false if it would exceed the limit.
  mutating func begin() -> Bool {
    if left == 0 { return false }
    if left != .max { left -= 1 }
    return true
  }

  var isExhausted: Bool { left == 0 }
}
