internal import ByteText

/// A `Refresh` field: a delay and a URL (HTML, "shared declarative refresh steps").
public enum RefreshField {
  /// Returns the URL in the value of a `Location` or `Refresh` field: in a `Refresh`, the text after the delay. The
  /// result is a slice of `field`.
  ///
  /// The form of the value shows which field it is: a `Refresh` begins with a number and a separator, and an absolute
  /// URI does not. A relative reference may begin in the same way, but then it names no scheme and no host, so it
  /// cannot lead to another origin.
  public static func target(of field: String) -> Substring {
    let text = field.drop(while: \.isBlank)
    guard let first = text.first, first.isASCII, first.isNumber || first == "." else { return text }
    let delay = text.drop { $0.isNumber || $0 == "." }
    // `../cb` and `.well/cb` are relative references, not delays.
    if let next = delay.first, !next.isBlank, next != ";", next != "," { return text }
    var rest = delay.drop { $0.isBlank || $0 == ";" || $0 == "," }
    if rest.prefix(3).lowercased() == "url" {
      let value = rest.dropFirst(3).drop(while: \.isBlank)
      if value.first == "=" { rest = value.dropFirst().drop(while: \.isBlank) }
    }
    guard let quote = rest.first, quote == "'" || quote == "\"" else { return rest }
    return rest.dropFirst().prefix { $0 != quote }
  }
}
