internal import ByteText

/// A segment of an endpoint path, in lower case, with which segments of request paths are compared.
struct SegmentName: Sendable {
  let text: [UInt8]
  /// The letters and digits of `text`.
  let letters: [UInt8]

  init(_ text: [UInt8]) {
    self.text = text
    letters = text.filter { $0.isLowercaseLetter || $0.isDigit }
  }
}

/// The place of a segment in the text of a `CanonicalPath`, and its letters and digits.
///
/// A server may compare only a part of a segment with a name. The letters and digits of each such part are the first ones
/// of the segment, so their numbers are enough to compare them. They are counted once, because a segment is compared with
/// many names.
struct PathSegment: Sendable {
  /// The offset of the segment in the text.
  let start: Int32
  /// The offset of the byte after the segment.
  let end: Int32
  /// The offset of the first letter or digit in the letters of the path.
  let firstLetter: Int32
  /// The number of letters and digits.
  let letterCount: Int32
  /// Their number in front of the first period, or in the whole segment if it begins with a period.
  let letterCountBeforePeriod: Int32
  /// Their number in front of the first byte that is not plain (`CanonicalPath.isPlain`). From there on, a server may
  /// ignore the text: `!` in Struts, `:` of a file stream, `&` of a query.
  let letterCountBeforeSeparator: Int32

  /// Examines the segment in `start..<end` of a text, and appends its letters and digits to `letters`.
  init(_ text: Span<UInt8>, from start: Int, to end: Int, _ letters: inout [UInt8]) {
    let first = letters.count
    var (beforePeriod, beforeSeparator): (Int?, Int?)
    var index = start
    while index < end {
      let byte = text[index]
      if byte.isLowercaseLetter || byte.isDigit {
        letters.append(byte)
      } else if byte == UInt8(ascii: ".") {
        if beforePeriod == nil, index > start { beforePeriod = letters.count - first }
        if index == start { beforePeriod = .max }
      } else if beforeSeparator == nil, !CanonicalPath.isPlain(byte) {
        beforeSeparator = letters.count - first
      }
      index &+= 1
    }
    let count = letters.count - first
    self.start = Int32(truncatingIfNeeded: start)
    self.end = Int32(truncatingIfNeeded: end)
    firstLetter = Int32(truncatingIfNeeded: first)
    letterCount = Int32(truncatingIfNeeded: count)
    letterCountBeforePeriod = Int32(truncatingIfNeeded: min(beforePeriod ?? count, count))
    letterCountBeforeSeparator = Int32(truncatingIfNeeded: beforeSeparator ?? count)
  }

  /// True if the letters and digits of a part that a server may compare are this many.
  func mayHave(letters count: Int) -> Bool {
    count == letterCount || count == letterCountBeforePeriod || count == letterCountBeforeSeparator
  }
}
