/// The budget of records that one connection may read.
///
/// A record without application data (a KeyUpdate, a refused renegotiation, an alert) costs the peer about 27 bytes,
/// and costs this side a change of keys or an answer. RFC 8446, section 4.6.3, does not limit KeyUpdates, and neither
/// does OpenSSL. A legitimate peer sends one after gigabytes of data.
struct RecordBudget {
  /// The number of consecutive records without application data after which the connection is ended.
  static let idleLimit = 32
  /// The number of records that are read in one turn of the loop. With the small records of many senders, they amount
  /// to 64 KiB, the share of a connection in a turn.
  static let perTurn = 64

  /// The number of records without application data since the last application data.
  private(set) var idle = 0
  /// The number of records in this turn.
  private var ofTurn = 0
  private var turn: UInt64 = 0

  /// True if the peer has sent too many records without application data.
  var isOverdrawn: Bool { idle > RecordBudget.idleLimit }
  /// True if further records must wait for the next turn.
  var isSpent: Bool { ofTurn >= RecordBudget.perTurn }

  /// Starts a new count of records if the turn is a new one.
  mutating func begin(turn: UInt64) {
    guard turn != self.turn else { return }
    self.turn = turn
    ofTurn = 0
  }

  mutating func countRecord() { ofTurn += 1 }
  mutating func countIdleRecord() { idle += 1 }
  mutating func receivedData() { idle = 0 }
}

/// The socket reads within one call of OpenSSL.
struct SocketReads {
  /// Two reads per call are enough to fill OpenSSL's buffer, which holds one record of the maximum size.
  private static let perCall: Int32 = 2

  /// The number of reads left; `Int32.max` means no limit, as in a handshake.
  private var left = Int32.max
  /// True if the last read has taken all bytes that the kernel had.
  var isDrained = false
  /// True if a read of this call found no bytes.
  var foundNothing = false

  /// Limits the reads of the next call: OpenSSL answers some records itself and reads on in the same call.
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
