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
    for directive in values.flatMap({ $0.split(separator: ",") }) {
      let parts = directive.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " && $0 != "\t" } }
      guard let name = parts.first?.lowercased() else { continue }
      switch name {
      case "no-store", "no-cache", "private": return minimum
      case "max-age":
        guard parts.count == 2, let seconds = number(parts[1]) else { return minimum }
        age = min(age ?? seconds, seconds)
      default: continue
      }
    }
    return min(maximum, max(minimum, Seconds(age ?? 0)))
  }

  /// Returns the number of seconds, at most a year; `nil` if the text is not a number.
  private static func number(_ text: String) -> Int? {
    let digits = text.hasPrefix("\"") && text.hasSuffix("\"") ? String(text.dropFirst().dropLast()) : text
    guard !digits.isEmpty, digits.utf8.allSatisfy(\.isDigit) else { return nil }
    return min(Int(digits) ?? .max, 31_536_000)
  }
}
