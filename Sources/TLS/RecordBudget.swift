/// Counts the records that one connection reads.
///
/// A record that carries no application data (a KeyUpdate, a refused renegotiation, an alert) costs the peer about 27 bytes
/// and this side a change of keys or an answer. RFC 8446, section 4.6.3, sets no limit for KeyUpdates, and OpenSSL has none.
/// A peer in earnest sends one after gigabytes of data.
struct RecordBudget {
  /// Records without application data, one after the other, beyond which the connection is ended.
  static let idleLimit = 32
  /// Records for which one turn of the loop has time: 64 KiB, a connection's share of a turn, in the small records with
  /// which many senders begin.
  static let perTurn = 64

  /// Records without application data since application data came last.
  private(set) var idle = 0
  /// Records of this turn.
  private var ofTurn = 0
  private var turn: UInt64 = 0

  /// True if the peer has sent more records without application data than it may.
  var isOverdrawn: Bool { idle > RecordBudget.idleLimit }
  /// True if the rest has to wait for the next turn.
  var isSpent: Bool { ofTurn >= RecordBudget.perTurn }

  mutating func begin(turn: UInt64) {
    guard turn != self.turn else { return }
    self.turn = turn
    ofTurn = 0
  }

  mutating func countRecord() { ofTurn += 1 }
  mutating func countIdleRecord() { idle += 1 }
  mutating func receivedData() { idle = 0 }
}

/// Reads of the socket within one call of OpenSSL.
struct SocketReads {
  /// Two fill OpenSSL's buffer, which holds a record of the largest size.
  private static let perCall: Int32 = 2

  /// `Int32.max`: there is no limit, as in a handshake.
  private var left = Int32.max
  /// The last read has taken all that the kernel had.
  var isDrained = false
  /// A read of this call found nothing.
  var foundNothing = false

  /// Limits the reads of the call that follows: OpenSSL answers some records itself and goes on in the same call.
  mutating func limit() {
    left = SocketReads.perCall
    foundNothing = false
  }

  mutating func unlimit() { left = .max }

  /// True if another read is within the limit.
  mutating func begin() -> Bool {
    if left == 0 { return false }
    if left != .max { left -= 1 }
    return true
  }

  var isExhausted: Bool { left == 0 }
}
