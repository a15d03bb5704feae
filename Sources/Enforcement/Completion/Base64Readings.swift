internal import ByteText

/// The texts that servers may get by decoding a part of a request as base64 (RFC 4648, sections 4 and 5).
enum Base64Readings {
  private static let separator = UInt8(ascii: "\n")

  /// Returns false if ``visibleTexts(in:ofAtLeast:)`` finds no text of `minimum` bytes. Takes a third of its time, and needs
  /// no memory.
  ///
  /// Only some digits are read: those behind places so near to each other that one of them is in the whole groups of a text
  /// and has two of these behind it. Of random digits, one in fifty such places looks like a text.
  ///
  /// - Parameters:
  ///   - text: A text with escapes, in which each percent sign begins an escape of a character that is neither unreserved
  ///     nor a percent sign.
  ///   - minimum: The length of the shortest text that is needed, in bytes; at least 5.
  static func mayHaveVisibleText(in text: Span<UInt8>, ofAtLeast minimum: Int) -> Bool {
    // Two whole groups, from each of the first four digits, are in eleven digits.
    let step = (minimum - 2) / 3 * 4 - 10
    guard step >= 8 else { return true }
    let table = Base64Digits.all
    let digits = table.values.span
    var start = 0
    while start < text.count {
      var index = start
      // Not within an escape.
      if index >= 1, text[index - 1] == UInt8(ascii: "%") {
        index -= 1
      } else if index >= 2, text[index - 2] == UInt8(ascii: "%") {
        index -= 2
      }
      var first = text.count
      var word: UInt64 = 0
      var count = 0
      while index < text.count, count < 11 {
        var byte = text[index]
        let position = index
        index += 1
        if byte == UInt8(ascii: "%"), let escaped = text.escapedByte(at: position) {
          byte = escaped
          index = position + 3
        }
        let value = digits[Int(byte)]
        guard value < 64 else { continue }
        if count == 0 { first = position }
        word = word << 6 | UInt64(value)
        count += 1
        if count >= 8, isVisible(sixBytes: word & 0xffff_ffff_ffff) { return true }
      }
      // All places in front of the first digit have the same digits behind them.
      start = max(start + step, first + 1)
    }
    return false
  }

  /// Returns the texts of visible ASCII characters that the text means as base64, and some bytes around them. A line feed
  /// is between texts, and in place of other characters.
  ///
  /// Servers ignore characters outside of the alphabet, so this function does, too. The beginning of the encoded value is
  /// not known, so the text is decoded from each of the first four digits. Four digits are a group of three bytes. A text
  /// of `minimum` bytes has some whole groups, so only one of each so many groups is decoded, unless it is visible: few
  /// groups of random digits are.
  ///
  /// - Parameter minimum: The length of the shortest text that is needed, in bytes; at least 5.
  static func visibleTexts(in text: Span<UInt8>, ofAtLeast minimum: Int) -> [UInt8] {
    var digits: [UInt8] = []
    digits.reserveCapacity(text.count + 3)
    digits.append(addingCapacity: text.count) { output in
      let table = Base64Digits.all
      let values = table.values.span
      for index in text.indices {
        let value = values[Int(text[index])]
        if value < 64 { output.append(value) }
      }
    }
    // The end of a value without padding has fewer than four digits.
    for _ in 0..<3 { digits.append(0) }
    // Three bytes may be in the groups in front of the whole ones and behind them.
    let step = max(1, (minimum - 2) / 3)
    var result: [UInt8] = []
    for first in 0..<4 { appendTexts(of: digits.span.extracting(first...), step, to: &result) }
    return result
  }

  /// Appends the visible texts that the digits mean if the first one begins a group.
  ///
  /// - Parameter step: The number of whole groups that each text has.
  private static func appendTexts(of digits: Span<UInt8>, _ step: Int, to result: inout [UInt8]) {
    let count = digits.count / 4
    var group = step - 1
    while group < count {
      guard isVisible(bytes(of: digits, group)) else {
        group += step
        continue
      }
      // The groups in front of these were decoded already, unless they belong to the same text.
      var start = group
      while start > max(0, group - step), isVisible(bytes(of: digits, start - 1)) { start -= 1 }
      var end = group + 1
      while end < count, isVisible(bytes(of: digits, end)) { end += 1 }
      for index in max(0, start - 1)..<min(count, end + 1) {
        let word = bytes(of: digits, index)
        for shift: UInt32 in [16, 8, 0] {
          let byte = UInt8(truncatingIfNeeded: word >> shift)
          result.append(isVisible(byte) ? byte : separator)
        }
      }
      result.append(separator)
      group = end + step
    }
  }

  /// Returns the three bytes that a group of four digits means.
  private static func bytes(of digits: Span<UInt8>, _ group: Int) -> UInt32 {
    let start = group * 4
    return UInt32(digits[start]) << 18 | UInt32(digits[start + 1]) << 12 | UInt32(digits[start + 2]) << 6
      | UInt32(digits[start + 3])
  }

  private static func isVisible(_ group: UInt32) -> Bool {
    isVisible(UInt8(truncatingIfNeeded: group >> 16)) && isVisible(UInt8(truncatingIfNeeded: group >> 8))
      && isVisible(UInt8(truncatingIfNeeded: group))
  }

  /// True if each of six bytes is visible.
  private static func isVisible(sixBytes word: UInt64) -> Bool {
    // The highest bit of a byte is set if it is above 0x7e, and is not set if it is below 0x20. No sum or difference of two
    // bytes affects the next byte.
    let high: UInt64 = 0x8080_8080_8080
    return (word | (word &+ 0x0101_0101_0101)) & high == 0 && ((word | high) &- 0x2020_2020_2020) & high == high
  }

  private static func isVisible(_ byte: UInt8) -> Bool { byte &- 0x20 < 0x5f }
}
