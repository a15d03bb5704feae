internal import ByteText
import Time

/// The time for which a document is used without a new fetch, from `Cache-Control` (RFC 9111, section 5.2.2).
enum DocumentLifetime {
  /// The minimum. A shorter one would let any program cause many fetches.
  static let minimum: Seconds = 300
  /// The maximum. A longer one would keep a withdrawn document too long.
  static let maximum: Seconds = 86_400

  /// Returns the lifetime within the bounds. Without `max-age`, or with `no-store` or `no-cache`, it is the minimum.
  static func lifetime(cacheControl values: [String]) -> Seconds {
    var age: Int?
    var isUsual = true
    for value in values {
      let bytes = value.utf8.span
      bytes.forEachPart(separatedBy: UInt8(ascii: ",")) { part in
        let directive = bytes.extracting(part)
        let end = directive.firstIndex(of: UInt8(ascii: "=")) ?? directive.count
        let name = directive.extracting(directive.trimmed(0..<end))
        if ["no-store", "no-cache", "private"].contains(where: { name.isEqualIgnoringCase(to: $0.utf8.span) }) {
          isUsual = false
        } else if name.isEqualIgnoringCase(to: "max-age".utf8.span) {
          let seconds =
            end < directive.count ? number(directive.extracting(directive.trimmed(end + 1..<directive.count))) : nil
          if let seconds { age = min(age ?? seconds, seconds) } else { isUsual = false }
        }
        return isUsual
      }
    }
    guard isUsual else { return minimum }
    return min(maximum, max(minimum, Seconds(age ?? 0)))
  }

  /// Returns the number of seconds, at most a year; `nil` if the text is not a number.
  private static func number(_ text: Span<UInt8>) -> Int? {
    let quote = UInt8(ascii: "\"")
    let isQuoted = text.count > 1 && text[0] == quote && text[text.count - 1] == quote
    let digits = isQuoted ? text.extracting(1..<text.count - 1) : text
    guard !digits.isEmpty, digits.allSatisfy(\.isDigit), let text = String(validating: digits) else { return nil }
    return min(Int(text) ?? .max, 31_536_000)
  }
}
