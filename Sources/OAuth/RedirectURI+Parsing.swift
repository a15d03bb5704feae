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
    let bytes = text.utf8.span
    try RedirectURI.checkCharacters(bytes)
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { throw .relative }
    let scheme = try RedirectURI.scheme(bytes.extracting(..<colon))
    var pathStart = colon + 1
    guard pathStart < bytes.count else { throw .incomplete }

    var authority: Range<Int>?
    if bytes.extracting(pathStart...).starts(with: "//".utf8.span) {
      let start = pathStart + 2
      pathStart = start
      while pathStart < bytes.count, bytes[pathStart] != UInt8(ascii: "/"), bytes[pathStart] != UInt8(ascii: "?") {
        pathStart += 1
      }
      guard !bytes.extracting(start..<pathStart).contains(UInt8(ascii: "@")) else { throw .userinfo }
      authority = start..<pathStart
    }
    try RedirectURI.checkPathAndQuery(bytes.extracting(pathStart...))
    let kind = try RedirectURI.kind(scheme: scheme, authority: authority, pathStart: pathStart, of: bytes)
    self.init(text: text, kind: kind, pathStart: pathStart)
  }

  /// Refuses characters that no part of the URI may contain.
  private static func checkCharacters(_ bytes: Span<UInt8>) throws(RedirectURIError) {
    guard !bytes.isEmpty else { throw .empty }
    guard bytes.count <= maximumLength else { throw .tooLong }
    for index in bytes.indices where !bytes[index].mayOccurInRedirectURI {
      switch bytes[index] {
      case 0x80...: throw .nonASCII
      case 0..<0x20, 0x7f: throw .controlCharacter
      case UInt8(ascii: " "): throw .space
      case UInt8(ascii: "\\"): throw .backslash
      case UInt8(ascii: "*"): throw .wildcard
      case UInt8(ascii: "#"): throw .fragment
      default: throw .forbiddenCharacter
      }
    }
  }

  /// Parses `scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )`. Upper-case letters are refused.
  private static func scheme(_ bytes: Span<UInt8>) throws(RedirectURIError) -> String {
    // If a slash, question mark or percent sign is in front of the first colon, the text has no scheme.
    guard !bytes.isEmpty,
      bytes.allSatisfy({ $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "%") })
    else { throw .relative }
    guard bytes[0].isLetter, bytes.allSatisfy(isSchemeByte), let scheme = String(validating: bytes) else {
      throw .schemeSyntax
    }
    guard bytes.allSatisfy({ !$0.isUppercaseLetter }) else { throw .schemeCase }
    return scheme
  }

  private static func isSchemeByte(_ byte: UInt8) -> Bool {
    byte.isLetter || byte.isDigit || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
      || byte == UInt8(ascii: ".")
  }

  private static func kind(
    scheme: String, authority: Range<Int>?, pathStart: Int, of bytes: Span<UInt8>
  ) throws(RedirectURIError) -> Kind {
    let rest = bytes.extracting(pathStart...)
    switch scheme {
    case "https":
      guard let authority else { throw .host }
      return .https(host: try host(bytes.extracting(authority)).name)
    case "http":
      guard let authority else { throw .host }
      return try loopback(bytes.extracting(authority))
    case "msapp", "ms-app":
      guard let authority, isPackageSID(bytes.extracting(authority)),
        rest.isEmpty || rest.isEqual(to: "/".utf8.span)
      else { throw .windowsBroker }
      return .windowsBroker
    default:
      guard !ReservedScheme.all.contains(scheme) else { throw .schemeReserved }
      let beginsWithSlash = !rest.isEmpty && rest[0] == UInt8(ascii: "/")
      guard let authority else {
        guard beginsWithSlash else { throw .rootless }
        return .privateUse(scheme: scheme)
      }
      guard !authority.isEmpty || beginsWithSlash else { throw .incomplete }
      let isName = bytes.extracting(authority).allSatisfy { isHostByte($0) || $0 == UInt8(ascii: "_") }
      guard isName else { throw .authorityOfPrivateUse }
      return .privateUse(scheme: scheme)
    }
  }

  /// Parses the authority of an http URI: a loopback literal or the name `localhost`. Any other host, including another
  /// spelling of these three, is refused with `cleartext`.
  private static func loopback(_ authority: Span<UInt8>) throws(RedirectURIError) -> Kind {
    if let port = try port(of: authority, after: "127.0.0.1") { return .loopback(family: .ipv4, port: port) }
    if let port = try port(of: authority, after: "[::1]") { return .loopback(family: .ipv6, port: port) }
    if let port = try port(of: authority, after: "localhost") { return .localhost(port: port) }
    throw .cleartext
  }

  /// Returns `nil` if the authority is neither the name nor the name with a port. Otherwise returns the port, which is
  /// `nil` for the name alone.
  private static func port(of authority: Span<UInt8>, after name: String) throws(RedirectURIError) -> Int?? {
    let name = name.utf8.span
    guard authority.starts(with: name) else { return nil }
    guard authority.count > name.count else { return .some(nil) }
    guard authority[name.count] == UInt8(ascii: ":") else { return nil }
    return .some(try port(authority.extracting((name.count + 1)...)))
  }

  /// Parses `port = %x31-39 *DIGIT`, from 1 to 65535. An empty port and leading zeros are refused, although RFC 3986
  /// permits them.
  private static func port(_ digits: Span<UInt8>) throws(RedirectURIError) -> Int {
    guard (1...5).contains(digits.count), digits.allSatisfy(\.isDigit), digits[0] != UInt8(ascii: "0") else {
      throw .port
    }
    var value = 0
    for index in digits.indices { value = value * 10 + Int(digits[index] &- UInt8(ascii: "0")) }
    guard value <= 65_535 else { throw .port }
    return value
  }

  /// Parses a DNS name and an optional port. IPv6 literals are refused, because no app can claim https links whose host
  /// is an IP address. IPv4 literals are not recognised, because they have the syntax of a DNS name, so they are
  /// accepted.
  private static func host(_ authority: Span<UInt8>) throws(RedirectURIError) -> (name: String, port: Int?) {
    let end = authority.firstIndex(of: UInt8(ascii: ":")) ?? authority.count
    let bytes = authority.extracting(..<end)
    // A DNS message cannot contain a name of more than 253 bytes (RFC 1035, section 2.3.4).
    guard !bytes.isEmpty, bytes.count <= 253, areLabels(bytes), let name = String(validating: bytes) else {
      throw .host
    }
    let port = end < authority.count ? try port(authority.extracting((end + 1)...)) : nil
    return (name, port)
  }

  /// Returns true if the bytes are labels of a DNS name, separated by periods.
  private static func areLabels(_ bytes: Span<UInt8>) -> Bool {
    var start = 0
    while start <= bytes.count {
      let end = bytes.firstIndex(of: UInt8(ascii: "."), from: start) ?? bytes.count
      let label = bytes.extracting(start..<end)
      guard (1...63).contains(label.count), label[0] != UInt8(ascii: "-"), label[label.count - 1] != UInt8(ascii: "-"),
        label.allSatisfy({ $0.isLetterOrDigit || $0 == UInt8(ascii: "-") })
      else { return false }
      start = end + 1
    }
    return true
  }

  private static func isHostByte(_ byte: UInt8) -> Bool {
    byte.isLetter || byte.isDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
  }

  /// Returns true for the security identifier (SID) of an app package: `s-1-15-2-` or `S-1-15-2-`, followed by numbers
  /// that are separated by hyphens.
  private static func isPackageSID(_ authority: Span<UInt8>) -> Bool {
    guard authority.count <= 184,
      authority.starts(with: "s-1-15-2-".utf8.span) || authority.starts(with: "S-1-15-2-".utf8.span)
    else { return false }
    var start = 2
    while start <= authority.count {
      let end = authority.firstIndex(of: UInt8(ascii: "-"), from: start) ?? authority.count
      guard start < end, authority.extracting(start..<end).allSatisfy(\.isDigit) else { return false }
      start = end + 1
    }
    return true
  }

  // MARK: Path and query

  /// Checks the path and the query. A path is refused if it contains something that servers or browsers are known to
  /// rewrite: a dot segment, a `;` (which can hide a dot segment), or a percent-encoded dot, slash, backslash,
  /// semicolon or percent sign.
  private static func checkPathAndQuery(_ rest: Span<UInt8>) throws(RedirectURIError) {
    let pathEnd = rest.firstIndex(of: UInt8(ascii: "?")) ?? rest.count
    try checkPath(rest.extracting(..<pathEnd))
    if pathEnd < rest.count { _ = try decode(rest.extracting(pathEnd...), inPath: false) }
    // Square brackets are only permitted in IPv6 literals (RFC 3986, section 3.2.2).
    let hasBracket = rest.containsAny {
      $0.approximatePositions(of: UInt8(ascii: "[")) | $0.approximatePositions(of: UInt8(ascii: "]"))
    }
    guard !hasBracket else { throw .forbiddenCharacter }
  }

  private static func checkPath(_ path: Span<UInt8>) throws(RedirectURIError) {
    // Most paths contain none of the characters that are checked below.
    let mayBeAmbiguous = path.containsAny {
      $0.approximatePositions(of: UInt8(ascii: ";")) | $0.approximatePositions(of: UInt8(ascii: "."))
        | $0.approximatePositions(of: UInt8(ascii: "%"))
    }
    guard mayBeAmbiguous else { return }
    guard !path.contains(UInt8(ascii: ";")) else { throw .pathParameter }
    guard !hasDotSegment(path) else { throw .dotSegment }
    // A path without escapes is ASCII, because all other characters were refused before.
    guard path.contains(UInt8(ascii: "%")) else { return }
    let decoded = try decode(path, inPath: true)
    guard String(validating: decoded, as: UTF8.self) != nil else { throw .invalidUTF8 }
  }

  /// Returns true if a segment of the path is `.` or `..`.
  private static func hasDotSegment(_ path: Span<UInt8>) -> Bool {
    var start = 0
    while start <= path.count {
      let end = path.firstIndex(of: UInt8(ascii: "/"), from: start) ?? path.count
      let segment = path.extracting(start..<end)
      if (1...2).contains(segment.count), segment.allSatisfy({ $0 == UInt8(ascii: ".") }) { return true }
      start = end + 1
    }
    return false
  }

  /// Decodes percent-escapes. Refuses malformed escapes and the escapes of control characters. With `inPath`, also
  /// refuses the escapes of a dot, slash, backslash, semicolon or percent sign.
  private static func decode(_ bytes: Span<UInt8>, inPath: Bool) throws(RedirectURIError) -> [UInt8] {
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

extension UInt8 {
  /// False for a byte that no part of a redirect URI may contain: all except visible ASCII characters, and
  /// `"`, `#`, `*`, `<`, `>`, `\`, `^`, `` ` ``, `{`, `|` and `}`.
  fileprivate var mayOccurInRedirectURI: Bool { isMember(low: 0xafff_fbf2_0000_0000, high: 0x47ff_fffe_afff_ffff) }
}
