internal import ByteText

/// Compares a segment of a request path with a segment of an endpoint path in each way that some server uses.
struct SegmentMatcher {
  private let segment: [UInt8]

  init(_ segment: [UInt8]) {
    self.segment = segment
  }

  /// True if some server treats this segment as `name`, a segment of an endpoint path.
  ///
  /// A server may compare only the letters and digits, because some frameworks derive method names from segments. It
  /// may ignore a suffix, or the text from a separator on (`!` in Struts, `:` of a file stream, `&` of a query).
  /// Windows also finds a file by its short name.
  func isRead(as name: [UInt8]) -> Bool {
    if segment == name { return true }
    let wanted = SegmentMatcher.lettersAndDigits(name[...])
    guard !wanted.isEmpty else { return false }
    let front = segment.prefix(while: CanonicalPath.isPlain)
    let forms = [segment[...], SegmentMatcher.withoutSuffix(segment[...]), front, SegmentMatcher.withoutSuffix(front)]
    return forms.contains { SegmentMatcher.lettersAndDigits($0) == wanted } || isShortName(of: name)
  }

  /// True if the letters and digits of this segment begin with those of `name`.
  func begins(like name: [UInt8]) -> Bool {
    let wanted = SegmentMatcher.lettersAndDigits(name[...])
    return !wanted.isEmpty && SegmentMatcher.lettersAndDigits(segment[...]).starts(with: wanted)
  }

  private static func lettersAndDigits(_ text: ArraySlice<UInt8>) -> [UInt8] {
    text.filter { $0.isLowercaseLetter || $0.isDigit }
  }

  /// Removes the text from the first period on, unless the segment begins with a period.
  private static func withoutSuffix(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard let period = text.firstIndex(of: UInt8(ascii: ".")), period > text.startIndex else { return text }
    return text[..<period]
  }

  /// True if this segment is the Windows short file name of `name`, such as `author~1` for `authorize`. Both are in
  /// lower case, like all segments of a `CanonicalPath`.
  private func isShortName(of name: [UInt8]) -> Bool {
    guard let tilde = segment.firstIndex(of: UInt8(ascii: "~")), tilde == 6, tilde + 1 < segment.count,
      segment[tilde + 1].isDigit
    else { return false }
    return name.starts(with: segment[..<tilde])
  }
}
