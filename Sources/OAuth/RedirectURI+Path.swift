internal import ByteText

extension RedirectURI {
  /// Checks the path and the query. A path is refused if servers or browsers are known to rewrite it. This concerns dot
  /// segments, percent-encoded dots, slashes, backslashes, semicolons and percent signs, and `;`, which can hide dot
  /// segments.
  static func checkPathAndQuery(_ rest: ArraySlice<UInt8>) throws(RedirectURIError) {
    let path = rest.prefix { $0 != UInt8(ascii: "?") }
    try checkPath(path)
    let query = rest[path.endIndex...]
    _ = try decode(query, inPath: false)
    // Square brackets are only permitted in IPv6 literals (RFC 3986, section 3.2.2).
    guard !rest.contains(where: { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "]") }) else {
      throw .forbiddenCharacter
    }
  }

  private static func checkPath(_ path: ArraySlice<UInt8>) throws(RedirectURIError) {
    guard !path.contains(UInt8(ascii: ";")) else { throw .pathParameter }
    // Most paths contain no period.
    if path.contains(UInt8(ascii: ".")) {
      for segment in path.split(separator: UInt8(ascii: "/")) {
        guard !segment.elementsEqual(".".utf8), !segment.elementsEqual("..".utf8) else { throw .dotSegment }
      }
    }
    // A path without escapes is ASCII, because all other characters were refused before.
    guard path.contains(UInt8(ascii: "%")) else { return }
    let decoded = try decode(path, inPath: true)
    guard String(validating: decoded, as: UTF8.self) != nil else { throw .invalidUTF8 }
  }

  private static func decode(_ bytes: ArraySlice<UInt8>, inPath: Bool) throws(RedirectURIError) -> [UInt8] {
    let bytes = bytes.span
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      guard bytes[index] == UInt8(ascii: "%") else {
        decoded.append(bytes[index])
        index += 1
        continue
      }
      guard let byte = bytes.escapedByte(at: index) else { throw .malformedEscape }
      guard !byte.isControl else { throw .encodedControl }
      if inPath, ".;/\\%".utf8.contains(byte) { throw .encodedSeparator }
      decoded.append(byte)
      index += 3
    }
    return decoded
  }
}
