/// A content coding of RFC 9110, section 8.4.1, that the gateway understands.
public enum ContentCoding: Sendable, Equatable {
  case gzip
  case deflate

  /// The coding that a message's `Content-Encoding` fields name, in any case; `nil` for a message without one.
  ///
  /// Throws `.unsupported` for every other coding, and for more than one: no server codes a message twice.
  public static func named(by fields: [String]) throws(CompressionError) -> ContentCoding? {
    var found: ContentCoding?
    for field in fields {
      for part in field.split(separator: ",", omittingEmptySubsequences: true) {
        let name = ContentCoding.trimmed(part).lowercased()
        if name.isEmpty || name == "identity" { continue }
        guard found == nil else { throw .unsupported }
        switch name {
        case "gzip", "x-gzip": found = .gzip
        case "deflate": found = .deflate
        default: throw .unsupported
        }
      }
    }
    return found
  }

  /// True if `Accept-Encoding` fields allow gzip (RFC 9110, section 12.5.3). Without a field they do not: a client that
  /// says nothing may not understand it.
  public static func acceptsGzip(_ fields: [String]) -> Bool {
    var byWildcard = false
    for field in fields {
      for part in field.split(separator: ",", omittingEmptySubsequences: true) {
        let pieces = part.split(separator: ";", omittingEmptySubsequences: false)
        let name = pieces.first.map { trimmed($0).lowercased() } ?? ""
        let isAllowed = !pieces.dropFirst().contains { isZeroWeight($0) }
        switch name {
        case "gzip", "x-gzip": return isAllowed
        case "*": byWildcard = isAllowed
        default: continue
        }
      }
    }
    return byWildcard
  }

  /// `q=0`, `q=0.0` and the like: not acceptable (RFC 9110, section 12.4.2).
  private static func isZeroWeight(_ parameter: Substring) -> Bool {
    let text = trimmed(parameter).lowercased()
    guard text.hasPrefix("q=") else { return false }
    return text.dropFirst(2).allSatisfy { $0 == "0" || $0 == "." }
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text
    while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return text
  }
}
