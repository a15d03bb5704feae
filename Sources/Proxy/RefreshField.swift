internal import ByteText

/// A `Refresh` field: a delay and a URL (HTML, "shared declarative refresh steps").
public enum RefreshField {
  /// Returns the URL in the value of a `Location` or `Refresh` field: in a `Refresh`, the text after the delay. The
  /// result is a slice of `field`.
  ///
  /// The form of the value shows which field it is: a `Refresh` begins with a number and a separator, and an absolute
  /// URI does not. A relative reference may begin in the same way, but then it names no scheme and no host, so it
  /// cannot lead to another origin. The text is read as bytes, as browsers do: a separator and a following combining mark
  /// are one `Character`.
  public static func target(of field: String) -> Substring.UTF8View {
    let text = field.utf8.drop(while: \.isBlank)
    guard let first = text.first, isOfDelay(first) else { return text }
    let delay = text.drop(while: isOfDelay)
    // `../cb` and `.well/cb` are relative references, not delays.
    if let next = delay.first, !isSeparator(next) { return text }
    var rest = delay.drop(while: isSeparator)
    if rest.prefix(3).elementsEqual("url".utf8, by: { $0.lowercasedASCII == $1 }) {
      let value = rest.dropFirst(3).drop(while: \.isBlank)
      if value.first == UInt8(ascii: "=") { rest = value.dropFirst().drop(while: \.isBlank) }
    }
    guard let quote = rest.first, quote == UInt8(ascii: "'") || quote == UInt8(ascii: "\"") else { return rest }
    return rest.dropFirst().prefix { $0 != quote }
  }

  private static func isOfDelay(_ byte: UInt8) -> Bool { byte.isDigit || byte == UInt8(ascii: ".") }

  private static func isSeparator(_ byte: UInt8) -> Bool {
    byte.isBlank || byte == UInt8(ascii: ";") || byte == UInt8(ascii: ",")
  }
}
