internal import ByteText

/// Compares a segment of a path with a segment of an endpoint path in each way in which servers may look it up.
struct SegmentMatcher {
  private let segment: [UInt8]

  init(_ segment: [UInt8]) {
    self.segment = segment
  }

  /// True if some server treats this segment as `name`, a segment of an endpoint path. A server may compare only the
  /// letters and digits, because frameworks derive method names from segments. It may ignore a suffix, or the text from
  /// a separator on (`!` in Struts, `:` of a file stream, `&` of a query). Windows also finds a file by its short name.
  func isRead(as name: [UInt8]) -> Bool {
    if segment == name { return true }
    let wanted = SegmentMatcher.letters(name[...])
    guard !wanted.isEmpty else { return false }
    let front = segment.prefix(while: CanonicalPath.isPlain)
    let forms = [segment[...], SegmentMatcher.withoutSuffix(segment[...]), front, SegmentMatcher.withoutSuffix(front)]
    return forms.contains { SegmentMatcher.letters($0) == wanted } || isShort(for: name)
  }

  /// True if the letters and digits of this segment begin with those of `name`.
  func begins(like name: [UInt8]) -> Bool {
    let wanted = SegmentMatcher.letters(name[...])
    return !wanted.isEmpty && SegmentMatcher.letters(segment[...]).starts(with: wanted)
  }

  private static func letters(_ text: ArraySlice<UInt8>) -> [UInt8] {
    text.filter { $0.isLowercaseLetter || $0.isDigit }
  }

  private static func withoutSuffix(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard let period = text.firstIndex(of: UInt8(ascii: ".")), period > text.startIndex else { return text }
    return text[..<period]
  }

  /// True if the segment is the Windows short name of `name`, such as `author~1` for `authorize`. Both are in lower
  /// case, as all segments of a `CanonicalPath`.
  private func isShort(for name: [UInt8]) -> Bool {
    guard let tilde = segment.firstIndex(of: UInt8(ascii: "~")), tilde == 6, tilde + 1 < segment.count,
      segment[tilde + 1].isDigit
    else { return false }
    return name.starts(with: segment[..<tilde])
  }
}
