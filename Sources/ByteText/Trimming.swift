extension BidirectionalCollection where SubSequence == Self {
  /// Returns the collection without the leading and trailing elements for which the condition is true.
  @inlinable
  public func trimmed(while condition: (Element) -> Bool) -> Self {
    var rest = drop(while: condition)
    while let last = rest.last, condition(last) { rest.removeLast() }
    return rest
  }
}

extension Span where Element == UInt8 {
  /// Calls `body` with the range of each part between separators, without the blanks at its ends, until `body` returns
  /// false. Parts may be empty.
  ///
  /// For lists in fields of peers. Splitting a `String` costs some hundred instructions for each character, finds no
  /// separator with a combining mark behind it, and creates an array that may need more memory than the text.
  @inlinable
  public func forEachPart(separatedBy separator: UInt8, in range: Range<Int>? = nil, _ body: (Range<Int>) -> Bool) {
    var start = range?.lowerBound ?? 0
    let end = range?.upperBound ?? count
    while true {
      let next = extracting(start..<end).firstIndex(of: separator).map { start &+ $0 } ?? end
      guard body(trimmed(start..<next)), next < end else { return }
      start = next &+ 1
    }
  }

  /// Returns the range without the spaces and tabs at its start and end (`OWS` of RFC 9110, section 5.6.3).
  @inlinable
  public func trimmed(_ range: Range<Int>) -> Range<Int> {
    var start = range.lowerBound
    var end = range.upperBound
    while start < end, self[start].isBlank { start += 1 }
    while end > start, self[end - 1].isBlank { end -= 1 }
    return start..<end
  }
}
