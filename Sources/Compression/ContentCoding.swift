internal import ByteText

/// A content coding (RFC 9110, section 8.4.1) that the gateway supports.
public enum ContentCoding: Sendable, Equatable {
  /// The gzip format (RFC 1952), also named `x-gzip`.
  case gzip
  /// The zlib format (RFC 1950). Raw deflate data (RFC 1951), without the zlib header, is accepted too.
  case deflate

  /// The maximum length of a field that is read. A longer one has names of no known coding.
  private static let maximumLength = 512

  /// Returns the coding named in a message's `Content-Encoding` fields, ignoring case; `nil` if the fields contain no
  /// name or only `identity`.
  ///
  /// Throws `.unsupported` for any other coding, and for more than one coding, because in practice servers do not
  /// combine codings.
  public static func parse(contentEncoding fields: [String]) throws(CompressionError) -> ContentCoding? {
    var found: ContentCoding?
    for field in fields {
      guard field.utf8.count <= maximumLength else { throw .unsupported }
      for part in field.split(separator: ",", omittingEmptySubsequences: true) {
        let name = part.trimmed(while: \.isBlank).lowercased()
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

  /// Returns true if the `Accept-Encoding` fields allow gzip (RFC 9110, section 12.5.3). Returns false without such a
  /// field: the RFC permits every coding in this case, but the client may not support gzip.
  public static func acceptsGzip(_ fields: [String]) -> Bool {
    var isAllowedByWildcard = false
    for field in fields where field.utf8.count <= maximumLength {
      for part in field.split(separator: ",", omittingEmptySubsequences: true) {
        let nameAndParameters = part.split(separator: ";", omittingEmptySubsequences: false)
        let name = nameAndParameters.first.map { $0.trimmed(while: \.isBlank).lowercased() } ?? ""
        let isAllowed = !nameAndParameters.dropFirst().contains { isZeroWeight($0) }
        switch name {
        case "gzip", "x-gzip": return isAllowed
        case "*": isAllowedByWildcard = isAllowed
        default: continue
        }
      }
    }
    return isAllowedByWildcard
  }

  /// Returns true for a weight of zero, e.g. `q=0` or `q=0.0`, which means "not acceptable" (RFC 9110, section 12.4.2).
  private static func isZeroWeight(_ parameter: Substring) -> Bool {
    let text = parameter.trimmed(while: \.isBlank).lowercased()
    guard text.hasPrefix("q=") else { return false }
    return text.dropFirst(2).allSatisfy { $0 == "0" || $0 == "." }
  }
}
