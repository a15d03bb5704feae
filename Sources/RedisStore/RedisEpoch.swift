internal import ByteText
internal import Cryptography
internal import OAuth

/// The value of the epoch key: the epoch, and the run id of the server in which it began. Redis gives each start of a
/// server a random run id.
///
///     16 hexadecimal digits | space | run id
///
/// The run id changes when the server starts again or another server becomes the primary. Both events may lose writes,
/// so both begin a new epoch. A server whose data was deleted has no epoch key, which also begins a new epoch.
struct RedisEpoch: Equatable {
  let id: EpochID
  let runID: String

  /// Creates a new epoch of the server with this run id.
  init(runID: String) {
    // The lowest bit is set because 0 is `EpochID.none`.
    id = EpochID(rawValue: randomBytes(8).reduce(0) { $0 << 8 | UInt64($1) } | 1)
    self.runID = runID
  }

  /// Parses a stored value; `nil` for bytes that no version of the gateway has written.
  init?(parsing bytes: [UInt8]) {
    guard bytes.count > 17, bytes[16] == 0x20, let number = Hex.decode(String(decoding: bytes[..<16], as: UTF8.self))
    else { return nil }
    let id = EpochID(rawValue: number.reduce(0) { $0 << 8 | UInt64($1) })
    guard id != .none else { return nil }
    self.id = id
    runID = String(decoding: bytes[17...], as: UTF8.self)
  }

  var bytes: [UInt8] {
    let number = (0..<8).reversed().map { UInt8(truncatingIfNeeded: id.rawValue >> (8 * $0)) }
    return Array("\(Hex.encode(number)) \(runID)".utf8)
  }
}
