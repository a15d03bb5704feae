/// The end of a commit in the write-ahead log of a database.
public struct LogPosition: Hashable, Sendable {
  /// The two salts in the header of the log, in their order. SQLite increments the first one, and chooses the second one
  /// at random, when it has copied the whole log into the database and begins to overwrite it.
  public let salts: UInt64
  /// The number of frames up to the end of the commit. A frame is a page and its header.
  public let frames: Int

  /// The number of `bytes`.
  static let length = 16

  init(salts: UInt64, frames: Int) {
    self.salts = salts
    self.frames = frames
  }

  /// Parses `bytes`; `nil` for bytes of another length or with an impossible number.
  init?(parsing bytes: [UInt8]) {
    guard bytes.count == LogPosition.length else { return nil }
    salts = bytes[..<8].bigEndian
    guard let frames = Int(exactly: bytes[8...].bigEndian) else { return nil }
    self.frames = frames
  }

  /// The position as 16 bytes.
  var bytes: [UInt8] {
    [salts, UInt64(clamping: frames)].flatMap { number in
      (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
  }

  /// True if a log that ends here contains the commit at `position`, or if SQLite has begun to overwrite the log after
  /// that commit.
  public func includes(_ position: LogPosition) -> Bool {
    if salts == position.salts { return frames >= position.frames }
    // The first salt may wrap around.
    let begun = UInt32(truncatingIfNeeded: salts >> 32) &- UInt32(truncatingIfNeeded: position.salts >> 32)
    return (1...UInt32.max / 2).contains(begun)
  }
}

extension ArraySlice<UInt8> {
  /// The number that at most eight bytes represent in big-endian order.
  var bigEndian: UInt64 { reduce(0) { $0 << 8 | UInt64($1) } }
}
