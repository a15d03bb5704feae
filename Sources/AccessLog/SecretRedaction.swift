internal import ByteText

/// Removes secrets from the parts of URLs that the access log contains. The value of a parameter that may be a secret
/// becomes `***`; names stay.
///
/// A server may decode names and values more than once, may separate parameters by `;`, and may read parameters from
/// the value of another one, for example from a URL to which it returns. So a value is replaced if some such reading of
/// it has a secret. If in doubt, it is replaced.
public enum SecretRedaction {
  private static let mark = "***"

  /// Appends the query. See `AccessEntry.setQuery`.
  public static func append(query: Span<UInt8>, isEndpoint: Bool, to bytes: inout [UInt8]) {
    appendPieces(query, separators: (UInt8(ascii: "&"), UInt8(ascii: ";")), to: &bytes) { piece, bytes in
      append(parameter: piece, to: &bytes) { name in
        isEndpoint ? !SecretNames.isPublic(name) : SecretNames.mayBeSecret(name)
      }
    }
  }

  /// Appends a path, in which segments may have parameters (`/login;jsessionid=...`).
  public static func append(path: Span<UInt8>, to bytes: inout [UInt8]) {
    guard path.contains(UInt8(ascii: "=")) || path.contains(UInt8(ascii: "%")) else {
      return bytes.append(copying: path)
    }
    appendPieces(path, separators: (UInt8(ascii: "/"), UInt8(ascii: ";")), to: &bytes) { piece, bytes in
      append(parameter: piece, to: &bytes, hides: SecretNames.mayBeSecret)
    }
  }

  /// Appends a `Referer`: without user information, and without the values in its query, because the page may be an
  /// OAuth endpoint, or belong to another server.
  public static func append(referer: Span<UInt8>, to bytes: inout [UInt8]) {
    let end = referer.firstIndex(of: UInt8(ascii: "#")) ?? referer.count
    let mark = min(referer.firstIndex(of: UInt8(ascii: "?")) ?? end, end)
    append(path: referer.extracting(endOfUserInformation(referer, before: mark)..<mark), to: &bytes)
    guard mark < end else { return }
    bytes.append(UInt8(ascii: "?"))
    let query = referer.extracting(mark + 1..<end)
    appendPieces(query, separators: (UInt8(ascii: "&"), UInt8(ascii: ";")), to: &bytes) { piece, bytes in
      append(parameter: piece, to: &bytes) { _ in true }
    }
  }

  /// Returns the offset after the `@` of a URL's authority, or 0 without one.
  private static func endOfUserInformation(_ url: Span<UInt8>, before end: Int) -> Int {
    var start = 0
    var slashes = 0
    for index in 0..<end {
      if url[index] == UInt8(ascii: "/") { slashes += 1 }
      // The path begins at the third slash of a URL with a scheme.
      if slashes > 2 { break }
      if url[index] == UInt8(ascii: "@") { start = index + 1 }
    }
    return start
  }

  /// Calls `append` for each piece between two separators, and appends the separators.
  private static func appendPieces(
    _ text: Span<UInt8>, separators: (UInt8, UInt8), to bytes: inout [UInt8],
    _ append: (Span<UInt8>, inout [UInt8]) -> Void
  ) {
    var start = 0
    for index in text.indices where text[index] == separators.0 || text[index] == separators.1 {
      append(text.extracting(start..<index), &bytes)
      bytes.append(text[index])
      start = index + 1
    }
    append(text.extracting(start..<text.count), &bytes)
  }

  /// Appends `name=value`, or a text without `=`.
  ///
  /// - Parameter hides: Returns true if the value of the parameter with this name is replaced.
  private static func append(
    parameter: Span<UInt8>, to bytes: inout [UInt8], hides: (Span<UInt8>) -> Bool
  ) {
    guard let equals = parameter.firstIndex(of: UInt8(ascii: "=")) else {
      // Without a name, the text itself may be the secret. Some servers decode `%3D` before they search for a name.
      guard !parameter.isEmpty, hides(parameter.extracting(0..<0)) || hasSecret(parameter) else {
        return bytes.append(copying: parameter)
      }
      return bytes.append(mark)
    }
    let name = parameter.extracting(0..<equals)
    let value = parameter.extracting(equals + 1..<parameter.count)
    bytes.append(copying: name)
    bytes.append(UInt8(ascii: "="))
    if !value.isEmpty, hides(name) || hasSecret(value) { bytes.append(mark) } else { bytes.append(copying: value) }
  }

  /// True if the decoded text is a JSON Web Token, or has `name=value` with the name of a secret.
  private static func hasSecret(_ text: Span<UInt8>) -> Bool {
    if text.starts(with: "eyJ".utf8.span) { return true }
    guard text.contains(UInt8(ascii: "%")) || text.contains(UInt8(ascii: "=")) else { return false }
    let decoded = PercentDecoding.repeated(text)
    let span = decoded.span
    var nameStart = 0
    for index in span.indices {
      switch span[index] {
      case UInt8(ascii: "="):
        if SecretNames.mayBeSecret(span.extracting(nameStart..<index)) { return true }
        nameStart = index + 1
      case UInt8(ascii: "?"), UInt8(ascii: "&"), UInt8(ascii: ";"), UInt8(ascii: "#"), UInt8(ascii: "/"),
        UInt8(ascii: ","), UInt8(ascii: " "), UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "{"):
        nameStart = index + 1
      default: break
      }
    }
    return span.contains("eyJ")
  }
}
