internal import ByteText

/// A content coding (RFC 9110, section 8.4.1) that the gateway supports.
public enum ContentCoding: Sendable, Equatable {
  /// The gzip format (RFC 1952), also named `x-gzip`.
  case gzip
  /// The zlib format (RFC 1950). Raw deflate data (RFC 1951), without the zlib header, is accepted too.
  case deflate

  /// Returns the coding named in a message's `Content-Encoding` fields, ignoring case; `nil` if the fields contain no
  /// name or only `identity`.
  ///
  /// Throws `.unsupported` for any other coding, and for more than one coding, because in practice servers do not
  /// combine codings.
  public static func parse(contentEncoding fields: [String]) throws(CompressionError) -> ContentCoding? {
    var found: ContentCoding?
    var isSupported = true
    for field in fields {
      let bytes = field.utf8.span
      bytes.forEachPart(separatedBy: comma) { part in
        let name = bytes.extracting(part)
        if name.isEmpty || name.isEqualIgnoringCase(to: "identity".utf8.span) { return true }
        let coding = coding(name)
        isSupported = coding != nil && found == nil
        found = coding
        return isSupported
      }
      guard isSupported else { throw .unsupported }
    }
    return found
  }

  private static func coding(_ name: Span<UInt8>) -> ContentCoding? {
    if name.isEqualIgnoringCase(to: "gzip".utf8.span) || name.isEqualIgnoringCase(to: "x-gzip".utf8.span) {
      return .gzip
    }
    return name.isEqualIgnoringCase(to: "deflate".utf8.span) ? .deflate : nil
  }

  private static let comma = UInt8(ascii: ",")

  /// Returns true if the `Accept-Encoding` fields allow gzip (RFC 9110, section 12.5.3). Returns false without such a
  /// field: the RFC permits every coding in this case, but the client may not support gzip.
  public static func acceptsGzip(_ fields: [String]) -> Bool {
    var isAllowedByWildcard = false
    var isAllowed: Bool?
    for field in fields {
      let bytes = field.utf8.span
      bytes.forEachPart(separatedBy: comma) { part in
        let element = bytes.extracting(part)
        let end = element.firstIndex(of: UInt8(ascii: ";")) ?? element.count
        let name = element.extracting(element.trimmed(0..<end))
        let isGzip = coding(name) == .gzip
        guard isGzip || name.isEqual(to: "*".utf8.span) else { return true }
        let isAcceptable = end == element.count || !hasZeroWeight(element.extracting((end + 1)...))
        if isGzip { isAllowed = isAcceptable } else { isAllowedByWildcard = isAcceptable }
        return !isGzip
      }
      if let isAllowed { return isAllowed }
    }
    return isAllowedByWildcard
  }

  /// Returns true if the parameters contain a weight of zero, e.g. `q=0` or `q=0.0`, which means "not acceptable" (RFC
  /// 9110, section 12.4.2).
  private static func hasZeroWeight(_ parameters: Span<UInt8>) -> Bool {
    var isZero = false
    parameters.forEachPart(separatedBy: UInt8(ascii: ";")) { part in
      let text = parameters.extracting(part)
      guard text.count >= 2, text.extracting(0..<2).isEqualIgnoringCase(to: "q=".utf8.span) else { return true }
      isZero = text.extracting(2...).allSatisfy { $0 == UInt8(ascii: "0") || $0 == UInt8(ascii: ".") }
      return !isZero
    }
    return isZero
  }
}
