internal import ByteText

/// The parser of redirect URIs. It accepts the part of the grammar of RFC 3986 that all parsers read in the same way,
/// and reads a text from left to right:
///
///     redirect-uri   = private-use / https / loopback / windows-broker
///     private-use    = scheme ":" ( "/" path / "//" reg-name path ) [ "?" query ]
///     https          = "https://" reg-name [ ":" port ] path-abempty [ "?" query ]
///     loopback       = "http://" ( "127.0.0.1" / "[::1]" / "localhost" ) [ ":" port ] path-abempty [ "?" query ]
///     windows-broker = ( "msapp" / "ms-app" ) "://" sid [ "/" ]
extension RedirectURI {
  /// Parses a redirect URI.
  ///
  /// - Throws: `RedirectURIError` for the first violation that is found.
  public init(parsing text: String) throws(RedirectURIError) {
    try RedirectURI.checkCharacters(text.utf8.span)
    let bytes = Array(text.utf8)
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { throw .relative }
    let scheme = try RedirectURI.scheme(bytes[..<colon])
    var rest = bytes[(colon + 1)...]
    guard !rest.isEmpty else { throw .incomplete }

    var authority: ArraySlice<UInt8>?
    if rest.starts(with: "//".utf8) {
      rest = rest.dropFirst(2)
      let found = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
      guard !found.contains(UInt8(ascii: "@")) else { throw .userinfo }
      authority = found
      rest = rest[found.endIndex...]
    }
    try RedirectURI.checkPathAndQuery(rest)
    let kind = try RedirectURI.kind(scheme: scheme, authority: authority, rest: rest)
    self.init(text: text, kind: kind, pathStart: rest.startIndex)
  }

  /// Refuses characters that no part of the URI may contain.
  private static func checkCharacters(_ bytes: Span<UInt8>) throws(RedirectURIError) {
    guard !bytes.isEmpty else { throw .empty }
    guard bytes.count <= maximumLength else { throw .tooLong }
    for index in bytes.indices {
      switch bytes[index] {
      case 0x80...: throw .nonASCII
      case 0..<0x20, 0x7f: throw .controlCharacter
      case UInt8(ascii: " "): throw .space
      case UInt8(ascii: "\\"): throw .backslash
      case UInt8(ascii: "*"): throw .wildcard
      case UInt8(ascii: "#"): throw .fragment
      case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "^"), UInt8(ascii: "`"),
        UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
        throw .forbiddenCharacter
      default: continue
      }
    }
  }

  /// Parses `scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )`. Upper-case letters are refused.
  private static func scheme(_ bytes: ArraySlice<UInt8>) throws(RedirectURIError) -> String {
    guard let first = bytes.first else { throw .relative }
    // If a slash, question mark or percent sign is in front of the first colon, the text has no scheme.
    let delimiters: [UInt8] = [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "%")]
    guard !bytes.contains(where: delimiters.contains) else { throw .relative }
    guard first.isLetter, bytes.allSatisfy(isSchemeByte) else { throw .schemeSyntax }
    guard !bytes.contains(where: \.isUppercaseLetter) else { throw .schemeCase }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func isSchemeByte(_ byte: UInt8) -> Bool {
    byte.isLetter || byte.isDigit || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
      || byte == UInt8(ascii: ".")
  }

  private static func kind(
    scheme: String, authority: ArraySlice<UInt8>?, rest: ArraySlice<UInt8>
  ) throws(RedirectURIError) -> Kind {
    switch scheme {
    case "https":
      guard let authority else { throw .host }
      return .https(host: try host(authority).name)
    case "http":
      guard let authority else { throw .host }
      return try loopback(authority)
    case "msapp", "ms-app":
      guard let authority, isPackageSID(authority), rest.isEmpty || rest.elementsEqual("/".utf8) else {
        throw .windowsBroker
      }
      return .windowsBroker
    default:
      guard !ReservedScheme.all.contains(scheme) else { throw .schemeReserved }
      try checkPrivateUse(authority: authority, rest: rest)
      return .privateUse(scheme: scheme)
    }
  }

  private static func checkPrivateUse(
    authority: ArraySlice<UInt8>?, rest: ArraySlice<UInt8>
  ) throws(RedirectURIError) {
    guard let authority else {
      guard rest.first == UInt8(ascii: "/") else { throw .rootless }
      return
    }
    guard !authority.isEmpty else {
      guard rest.first == UInt8(ascii: "/") else { throw .incomplete }
      return
    }
    guard authority.allSatisfy({ isHostByte($0) || $0 == UInt8(ascii: "_") }) else { throw .authorityOfPrivateUse }
  }

  /// Parses the authority of an http URI: a loopback literal or the name `localhost`. Any other host, including another
  /// spelling of these three, is refused with `cleartext`.
  private static func loopback(_ authority: ArraySlice<UInt8>) throws(RedirectURIError) -> Kind {
    // Returns `nil` if the authority is neither the name nor the name with a port. Otherwise returns the port, which is
    // `nil` for the name alone.
    func port(after name: String) throws(RedirectURIError) -> Int?? {
      guard authority.starts(with: name.utf8) else { return nil }
      let rest = authority.dropFirst(name.utf8.count)
      guard let first = rest.first else { return .some(nil) }
      guard first == UInt8(ascii: ":") else { return nil }
      return .some(try RedirectURI.port(rest.dropFirst()))
    }
    if let port = try port(after: "127.0.0.1") { return .loopback(family: .ipv4, port: port) }
    if let port = try port(after: "[::1]") { return .loopback(family: .ipv6, port: port) }
    if let port = try port(after: "localhost") { return .localhost(port: port) }
    throw .cleartext
  }

  /// Parses `port = %x31-39 *DIGIT`, from 1 to 65535. An empty port and leading zeros are refused, although RFC 3986
  /// permits them.
  private static func port(_ digits: ArraySlice<UInt8>) throws(RedirectURIError) -> Int {
    guard (1...5).contains(digits.count), digits.allSatisfy(\.isDigit), digits.first != UInt8(ascii: "0") else {
      throw .port
    }
    let value = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    guard value <= 65_535 else { throw .port }
    return value
  }

  /// Parses a DNS name and an optional port. IPv6 literals are refused, because no app can claim https links whose host
  /// is an IP address. IPv4 literals are not recognised, because they have the syntax of a DNS name, so they are
  /// accepted.
  private static func host(
    _ authority: ArraySlice<UInt8>
  ) throws(RedirectURIError) -> (name: String, port: Int?) {
    let name = authority.prefix { $0 != UInt8(ascii: ":") }
    // A DNS message cannot contain a name of more than 253 bytes (RFC 1035, section 2.3.4).
    guard !name.isEmpty, name.count <= 253 else { throw .host }
    for label in name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
      guard (1...63).contains(label.count), label.first != UInt8(ascii: "-"), label.last != UInt8(ascii: "-"),
        label.allSatisfy({ $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "-") })
      else { throw .host }
    }
    let rest = authority[name.endIndex...]
    let port = rest.isEmpty ? nil : try port(rest.dropFirst())
    return (String(decoding: name, as: UTF8.self), port)
  }

  private static func isHostByte(_ byte: UInt8) -> Bool {
    byte.isLetter || byte.isDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
  }

  /// Returns true for the security identifier (SID) of an app package: `s-1-15-2-` or `S-1-15-2-`, followed by numbers
  /// that are separated by hyphens.
  private static func isPackageSID(_ authority: ArraySlice<UInt8>) -> Bool {
    guard authority.count <= 184, authority.starts(with: "s-1-15-2-".utf8) || authority.starts(with: "S-1-15-2-".utf8)
    else { return false }
    let numbers = authority.dropFirst(2).split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    return numbers.allSatisfy { !$0.isEmpty && $0.allSatisfy(\.isDigit) }
  }

  // MARK: Path and query

  /// Checks the path and the query. A path is refused if it contains something that servers or browsers are known to
  /// rewrite: a dot segment, a `;` (which can hide a dot segment), or a percent-encoded dot, slash, backslash,
  /// semicolon or percent sign.
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

  /// Decodes percent-escapes. Refuses malformed escapes and the escapes of control characters. With `inPath`, also
  /// refuses the escapes of a dot, slash, backslash, semicolon or percent sign.
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
