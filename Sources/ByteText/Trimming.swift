extension BidirectionalCollection where SubSequence == Self {
  /// Returns the collection without the leading and trailing elements for which the condition is true.
  @inlinable
  public func trimmed(while condition: (Element) -> Bool) -> Self {
    var rest = drop(while: condition)
    while let last = rest.last, condition(last) { rest.removeLast() }
    return rest
  }
}

extension Character {
  /// True for a space or a tab. A space with a combining mark is a different character.
  @inlinable
  public var isBlank: Bool { self == " " || self == "\t" }
}

extension Span where Element == UInt8 {
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
