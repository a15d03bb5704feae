internal import ByteText

/// The letters and digits of an endpoint path, in order and in lower case. A path that some server reads as this
/// endpoint path contains them in this order, unless the path hides some of them, for example in escapes. Comparing
/// the letters first is cheaper than trying every possible reading of the path.
struct LetterPrefilter: Sendable {
  private let letters: [UInt8]
  /// A bit for each of the letters and digits.
  let set: UInt64

  /// The bit for bytes that may hide letters: `%`, bytes beyond ASCII, and the `~` of Windows short file names.
  static let disguiseBit: UInt64 = 1 << 63

  init(_ letters: [UInt8]) {
    self.letters = letters
    set = LetterPrefilter.set(of: letters.span)
  }

  /// Returns the bits of the letters and digits in the path, ignoring case, and `disguiseBit` if a byte may hide
  /// letters.
  static func set(of path: Span<UInt8>) -> UInt64 {
    var set: UInt64 = 0
    for index in path.indices { set |= bit(of: path[index]) }
    return set
  }

  private static func bit(of byte: UInt8) -> UInt64 {
    switch byte {
    // Letters have the bits 1 to 26, digits 48 to 57.
    case _ where byte.isLetter: 1 &<< UInt64(byte & 0x1f)
    case _ where byte.isDigit: 1 &<< UInt64(byte)
    case UInt8(ascii: "%"), UInt8(ascii: "~"), 0x80...: disguiseBit
    default: 0
    }
  }

  /// True if `found`, a result of `set(of:)`, contains all of these letters and digits.
  func isPart(of found: UInt64) -> Bool { set & ~found == 0 }

  /// True if the letters occur in the path in this order, with any bytes between them.
  func isInOrder(in path: Span<UInt8>) -> Bool {
    var next = 0
    for index in path.indices {
      guard next < letters.count else { return true }
      if path[index].lowercasedASCII == letters[next] { next += 1 }
    }
    return next == letters.count
  }
}
