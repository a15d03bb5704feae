/// Decoding of percent-escapes (RFC 3986, section 2.1), in three modes.
///
/// Parsers use `strict`, because a text that they accept must have only one meaning. Checks of how other servers could
/// read a text use `lenient` and `repeated`.
public enum PercentDecoding {
  /// Returns the text with each escape decoded once; `nil` if an escape is invalid.
  ///
  /// - Parameter plusIsSpace: True for form data, in which a plus encodes a space.
  public static func strict(_ text: Span<UInt8>, plusIsSpace: Bool = false) -> [UInt8]? {
    var decoded: [UInt8] = []
    var isValid = true
    decoded.append(addingCapacity: text.count) { isValid = strict(text, plusIsSpace: plusIsSpace, to: &$0) }
    return isValid ? decoded : nil
  }

  /// Appends the decoded text, which is no longer than `text`. Returns false if an escape is invalid.
  private static func strict(_ text: Span<UInt8>, plusIsSpace: Bool, to output: inout OutputSpan<UInt8>) -> Bool {
    var index = 0
    while index < text.count {
      switch text[index] {
      case UInt8(ascii: "+") where plusIsSpace:
        output.append(UInt8(ascii: " "))
      case UInt8(ascii: "%"):
        guard let byte = text.escapedByte(at: index) else { return false }
        output.append(byte)
        index &+= 2
      case let byte:
        output.append(byte)
      }
      index &+= 1
    }
    return true
  }

  /// Returns the text with each escape decoded once. Invalid escapes stay unchanged.
  public static func lenient(_ text: Span<UInt8>) -> [UInt8] {
    guard text.contains(UInt8(ascii: "%")) else { return [UInt8](copying: text) }
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var index = 0
    while let percentSign = text.firstIndex(of: UInt8(ascii: "%"), from: index) {
      result.append(copying: text.extracting(index..<percentSign))
      if let byte = text.escapedByte(at: percentSign) {
        result.append(byte)
        index = percentSign + 3
      } else {
        result.append(text[percentSign])
        index = percentSign + 1
      }
    }
    result.append(copying: text.extracting(index..<text.count))
    return result
  }

  /// Returns the text, decoded repeatedly until it contains no valid escape. Invalid escapes stay unchanged.
  ///
  /// One pass over the text is enough: an escape whose characters result from other escapes is decoded as soon as its
  /// last digit is written.
  public static func repeated(_ text: Span<UInt8>) -> [UInt8] {
    guard text.contains(UInt8(ascii: "%")) else { return [UInt8](copying: text) }
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    // True if one of the last two bytes of the result is a percent sign, so that the next bytes may complete an escape.
    var mayEndWithPartOfEscape = false
    var index = 0
    while index < text.count {
      if !mayEndWithPartOfEscape {
        let percentSign = text.firstIndex(of: UInt8(ascii: "%"), from: index) ?? text.count
        result.append(copying: text.extracting(index..<percentSign))
        index = percentSign
        guard index < text.count else { break }
        if let byte = text.escapedByte(at: index) {
          result.append(byte)
          index &+= 3
          mayEndWithPartOfEscape = byte == UInt8(ascii: "%")
          continue
        }
      }
      result.append(text[index])
      index &+= 1
      while result.count > 2, let byte = result.span.escapedByte(at: result.count - 3) {
        result.removeLast(3)
        result.append(byte)
      }
      mayEndWithPartOfEscape = result.suffix(2).contains(UInt8(ascii: "%"))
    }
    return result
  }
}

extension Span where Element == UInt8 {
  /// Returns the byte of the escape at `index`; `nil` if no complete escape begins there.
  @inlinable
  public func escapedByte(at index: Int) -> UInt8? {
    guard index + 2 < count, self[index] == UInt8(ascii: "%"), let high = self[index + 1].hexadecimalValue,
      let low = self[index + 2].hexadecimalValue
    else { return nil }
    return high << 4 | low
  }
}
