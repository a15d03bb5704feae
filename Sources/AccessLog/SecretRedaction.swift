internal import ByteText

/// Removes secrets from the parts of URLs that the access log contains. The value of a parameter that may be a secret
/// becomes `***`; names stay.
///
/// A server may decode names and values more than once, may separate parameters by `;`, and may read parameters from
/// the value of another one, for example from a URL to which it returns. So a value is replaced if some such reading of
/// it has a secret. If in doubt, it is replaced.
public enum SecretRedaction {
  static let mark = "***"
  /// A value without any of these characters has no secret in it. `%` may stand for each of the others.
  private static let signs = "%=@\"'".utf8.map(\.self)
  /// The least length of a text in base64url that may be a code or token in a query. A sealed value is longer; a UUID is
  /// shorter.
  private static let minimumRandomLength = 40
  /// The number of times that a text is decoded to find a URL. A text with more layers of escapes is replaced.
  private static let maximumDecodings = 8

  /// Appends the query. See `AccessEntry.setQuery`.
  public static func append(query: Span<UInt8>, isEndpoint: Bool, to bytes: inout [UInt8]) {
    appendPieces(query, separators: (UInt8(ascii: "&"), UInt8(ascii: ";")), to: &bytes) { piece, bytes in
      append(parameter: piece, to: &bytes, hidesLongTexts: true) { name in
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
      // Some servers decode `%3F` before they search for the query, whose names may be any.
      let decoded = PercentDecoding.repeated(piece)
      if let mark = decoded.firstIndex(of: UInt8(ascii: "?")), mark < decoded.count - 1 {
        return bytes.append(SecretRedaction.mark)
      }
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

  /// Returns the offset after the `@` of a URL's authority, or 0 without one. The scheme and the slashes may be missing,
  /// there may be more than two slashes or backslashes, and one URL may be in another (`view-source:https://...`).
  private static func endOfUserInformation(_ url: Span<UInt8>, before end: Int) -> Int {
    var start = 0
    var isInAuthority = false
    var hasScheme = false
    for index in 0..<end {
      switch url[index] {
      case UInt8(ascii: "/"):
        if isInAuthority { return start }
      case UInt8(ascii: "\\"): break
      case UInt8(ascii: ":") where !hasScheme || index + 1 < end && isSlash(url[index + 1]):
        hasScheme = true
        isInAuthority = false
      case UInt8(ascii: "@"):
        start = index + 1
        isInAuthority = true
      default: isInAuthority = true
      }
    }
    return start
  }

  private static func isSlash(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }

  /// True if the text contains a URL with user information, also after some of its escapes are decoded: a slash in a
  /// password is encoded once more than the one at the end of the authority.
  private static func hasUserInformation(_ text: Span<UInt8>) -> Bool {
    if hasUserInformationAsWritten(text) { return true }
    var current = [UInt8](copying: text)
    for _ in 0..<maximumDecodings {
      guard current.contains(UInt8(ascii: "%")) else { return false }
      let next = PercentDecoding.lenient(current.span)
      if next == current { return false }
      if hasUserInformationAsWritten(next.span) { return true }
      current = next
    }
    return true
  }

  private static func hasUserInformationAsWritten(_ text: Span<UInt8>) -> Bool {
    var slashes = 0
    var isInAuthority = false
    for index in text.indices {
      switch text[index] {
      case UInt8(ascii: "/"), UInt8(ascii: "\\"):
        slashes += 1
        isInAuthority = slashes > 1 || index > 0 && text[index - 1] == UInt8(ascii: ":")
        continue
      case UInt8(ascii: "@") where isInAuthority: return true
      case UInt8(ascii: "?"), UInt8(ascii: "#"): isInAuthority = false
      default: break
      }
      slashes = 0
    }
    return false
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
  /// - Parameters:
  ///   - hidesLongTexts: True if a text that may be a sealed value is replaced. The value of a parameter that is not a
  ///     secret stays: a client id may be as long.
  ///   - hides: Returns true if the value of the parameter with this name is replaced.
  private static func append(
    parameter: Span<UInt8>, to bytes: inout [UInt8], hidesLongTexts: Bool = false, hides: (Span<UInt8>) -> Bool
  ) {
    func isLong(_ text: Span<UInt8>) -> Bool { hidesLongTexts && isLongText(text) }
    guard let equals = parameter.firstIndex(of: UInt8(ascii: "=")) else {
      // Without a name, the text itself may be the secret. Some servers decode `%3D` before they search for a name.
      guard !parameter.isEmpty, hides(parameter.extracting(0..<0)) || hasSecret(parameter) || isLong(parameter)
      else {
        return bytes.append(copying: parameter)
      }
      return bytes.append(mark)
    }
    let name = parameter.extracting(0..<equals)
    // What is in front of the first `=` may be a secret itself, or a URL or JSON with one.
    guard name.count <= SecretNames.maximumLength, !hasSecret(name), !isLong(name) else { return bytes.append(mark) }
    let value = parameter.extracting(equals + 1..<parameter.count)
    bytes.append(copying: name)
    bytes.append(UInt8(ascii: "="))
    if !value.isEmpty, hides(name) || hasSecret(value) || isLong(value) && !SecretNames.isPublic(name) {
      bytes.append(mark)
    } else {
      bytes.append(copying: value)
    }
  }

  /// True if the text, as it is or decoded, has `minimumRandomLength` characters of base64url in a row, like a value that
  /// the gateway has sealed.
  private static func isLongText(_ text: Span<UInt8>) -> Bool {
    guard text.count >= minimumRandomLength else { return false }
    return hasLongRun(text) || text.contains(UInt8(ascii: "%")) && hasLongRun(PercentDecoding.repeated(text).span)
  }

  private static func hasLongRun(_ text: Span<UInt8>) -> Bool {
    var length = 0
    for index in text.indices {
      let byte = text[index]
      length = byte.isLetterOrDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") ? length + 1 : 0
      if length == minimumRandomLength { return true }
    }
    return false
  }

  /// True if the decoded text is a JSON Web Token, a URL with user information, or has `name=value` or `"name": value`
  /// with the name of a secret.
  private static func hasSecret(_ text: Span<UInt8>) -> Bool {
    if text.starts(with: "eyJ".utf8.span) { return true }
    guard signs.contains(where: { text.contains($0) }) else { return false }
    let decoded = PercentDecoding.repeated(text)
    let span = decoded.span
    if hasUserInformation(text) { return true }
    var nameStart = 0
    for index in span.indices {
      switch span[index] {
      case UInt8(ascii: "="):
        if SecretNames.mayBeSecret(span.extracting(nameStart..<index)) { return true }
        nameStart = index + 1
      case UInt8(ascii: "\""), UInt8(ascii: "'"):
        // The end of a name in JSON, if a colon follows.
        var next = index + 1
        while next < span.count, span[next] == .space { next += 1 }
        let isName = next < span.count && span[next] == UInt8(ascii: ":")
        if isName, SecretNames.mayBeSecret(span.extracting(nameStart..<index)) { return true }
        nameStart = index + 1
      case UInt8(ascii: "?"), UInt8(ascii: "&"), UInt8(ascii: ";"), UInt8(ascii: "#"), UInt8(ascii: "/"),
        UInt8(ascii: ","), UInt8(ascii: " "), UInt8(ascii: "{"):
        nameStart = index + 1
      default: break
      }
    }
    return span.contains("eyJ")
  }
}
