internal import ByteText
import HTTP
import Reactor

/// Finds the gateway's own cookie, and cookies that some server reads like parameters, and removes them. Also finds the
/// attribute `Secure` of the cookies that the upstream sets.
public enum CookieFilter {
  /// The cookies in a `Cookie` value that the gateway may have to remove.
  struct Found {
    /// True if the handler's own cookie is among them.
    var hasOwn = false
    /// A parameter that some server may read in a cookie; `nil` if there is none.
    var parameter: String?
  }

  /// Searches a `Cookie` value for the handler's own cookie and for parameters.
  static func search(_ bytes: Span<UInt8>, _ value: Range<Int>, _ settings: CompiledProxyConfiguration) -> Found {
    let own = settings.configuration.handlerCookie
    let parameter = settings.configuration.cookieParameter
    var found = Found()
    var position = value.lowerBound
    while position < value.upperBound {
      let pair = nextPair(bytes, &position, value.upperBound)
      if isNamed(own, bytes, pair) {
        found.hasOwn = true
      } else if let name = first(in: bytes.extracting(pair), parameter) {
        found.parameter = name
      }
    }
    return found
  }

  /// Returns the range of the value of the first pair with this name in a `Cookie` value; `nil` without one.
  static func value(of name: String, _ bytes: Span<UInt8>, _ value: Range<Int>) -> Range<Int>? {
    var position = value.lowerBound
    while position < value.upperBound {
      let pair = nextPair(bytes, &position, value.upperBound)
      guard isNamed(name, bytes, pair), let equals = pair.first(where: { bytes[$0] == 0x3d }) else { continue }
      return equals + 1..<pair.upperBound
    }
    return nil
  }

  /// Appends a `Cookie` field with all pairs except the handler's own cookie and, if the configuration says so, those
  /// with parameters. Appends no field if no other pair is left.
  ///
  /// The appended field is never longer than the original, because a space follows a semicolon only where the original
  /// has one. So a buffer with room for the original field has room for this one.
  static func appendPermitted(
    _ value: Range<Int>, of bytes: Span<UInt8>, _ settings: CompiledProxyConfiguration, to buffer: Buffer
  ) {
    let configuration = settings.configuration
    var isFirst = true
    var position = value.lowerBound
    while position < value.upperBound {
      let before = position
      let pair = nextPair(bytes, &position, value.upperBound)
      if pair.isEmpty || isNamed(configuration.handlerCookie, bytes, pair) { continue }
      if configuration.dropsParameterCookies, first(in: bytes.extracting(pair), configuration.cookieParameter) != nil {
        continue
      }
      buffer.append(isFirst ? "Cookie: " : pair.lowerBound > before ? "; " : ";")
      isFirst = false
      buffer.append(bytes, in: pair)
    }
    if !isFirst { buffer.append("\r\n") }
  }

  /// Returns a `Cookie` value without the pairs of this name; empty if no other pair is left.
  static func value(_ value: String, without name: String) -> String {
    self.value(value) { bytes, pair in isNamed(name, bytes, pair) }
  }

  /// Returns a `Cookie` value without the pairs in which some server finds a name for which `drops` returns true; empty
  /// if no other pair is left.
  public static func value(_ value: String, droppingNames drops: (Span<UInt8>) -> Bool) -> String {
    self.value(value) { bytes, pair in first(in: bytes.extracting(pair)) { drops($0) ? true : nil } ?? false }
  }

  private static func value(_ value: String, dropping drops: (Span<UInt8>, Range<Int>) -> Bool) -> String {
    let bytes = FieldText.encode(value)
    var position = 0
    var isFound = false
    while position < bytes.count, !isFound { isFound = drops(bytes.span, nextPair(bytes.span, &position, bytes.count)) }
    guard isFound else { return value }
    var kept: [UInt8] = []
    kept.reserveCapacity(bytes.count)
    position = 0
    while position < bytes.count {
      let pair = nextPair(bytes.span, &position, bytes.count)
      if pair.isEmpty || drops(bytes.span, pair) { continue }
      if !kept.isEmpty { kept += [0x3b, 0x20] }
      kept.append(copying: bytes.span.extracting(pair))
    }
    return FieldText.decode(kept)
  }

  /// Returns the first result of `find` for the names in a pair; `nil` if it returns none. Some servers separate cookies
  /// at commas, too (RFC 2109, section 4.3.2), so each `name=` behind a comma is a name.
  private static func first<Result>(in pair: Span<UInt8>, _ find: (Span<UInt8>) -> Result?) -> Result? {
    var start = 0
    while start < pair.count {
      let end = pair.firstIndex(of: 0x2c, from: start) ?? pair.count
      let piece = pair.extracting(start..<end)
      let equals = piece.firstIndex(of: 0x3d)
      if equals != nil || start == 0, let found = find(piece.extracting(piece.trimmed(0..<(equals ?? piece.count)))) {
        return found
      }
      start = end + 1
    }
    return nil
  }

  /// True if a `Set-Cookie` value sets the cookie with this name.
  static func sets(_ name: String, _ bytes: Span<UInt8>, _ value: Range<Int>) -> Bool {
    var position = value.lowerBound
    // Browsers read `=name=value` as a cookie without a name and send it back as `name=value`.
    while position < value.upperBound, [0x20, 0x09, 0x3d].contains(bytes[position]) { position += 1 }
    return isNamed(name, bytes, nextPair(bytes, &position, value.upperBound))
  }

  /// True if a `Set-Cookie` value has the attribute `Secure` (RFC 6265, section 5.2.5).
  static func isSecure(_ bytes: Span<UInt8>, _ value: Range<Int>) -> Bool {
    var position = value.lowerBound
    _ = nextPair(bytes, &position, value.upperBound)
    while position < value.upperBound {
      if isNamed("secure", bytes, nextPair(bytes, &position, value.upperBound)) { return true }
    }
    return false
  }

  /// Returns the first attribute `Domain` of a `Set-Cookie` value because of which a browser rejects the cookie, with the
  /// semicolon in front of it: its value does not contain the host (RFC 6265, sections 5.1.3 and 5.3). Returns `nil` without
  /// one, and if `host` is empty.
  ///
  /// - Parameter host: The host to which the browser has sent the request, in lower case and without a port.
  static func foreignDomain(_ bytes: Span<UInt8>, _ value: Range<Int>, _ host: String) -> Range<Int>? {
    guard !host.isEmpty else { return nil }
    var position = value.lowerBound
    _ = nextPair(bytes, &position, value.upperBound)
    while position < value.upperBound {
      let semicolon = position - 1
      let attribute = nextPair(bytes, &position, value.upperBound)
      guard isNamed("domain", bytes, attribute), let equals = attribute.first(where: { bytes[$0] == 0x3d }) else {
        continue
      }
      var domain = bytes.trimmed(equals + 1..<attribute.upperBound)
      // Browsers ignore a period at the beginning and an empty domain (RFC 6265, section 5.2.3).
      if !domain.isEmpty, bytes[domain.lowerBound] == 0x2e { domain = domain.lowerBound + 1..<domain.upperBound }
      if !domain.isEmpty, !contains(host, bytes.extracting(domain)) { return semicolon..<attribute.upperBound }
    }
    return nil
  }

  /// True if the host is the domain, or a name under it. An address is under no domain.
  private static func contains(_ host: String, _ domain: Span<UInt8>) -> Bool {
    let name = host.utf8
    guard name.count >= domain.count else { return false }
    let rest = name.count - domain.count
    var index = 0
    for byte in name.dropFirst(rest) {
      guard byte == domain[index].lowercasedASCII else { return false }
      index += 1
    }
    guard rest > 0 else { return true }
    let isAddress = name.last?.isDigit == true || name.contains(0x3a)
    return !isAddress && name.prefix(rest).last == 0x2e
  }

  /// Returns a `Set-Cookie` value without the attributes that `foreignDomain(_:_:_:)` finds.
  static func droppingForeignDomains(_ bytes: Span<UInt8>, _ value: Range<Int>, _ host: String) -> [UInt8] {
    var kept: [UInt8] = []
    kept.append(copying: bytes.extracting(value))
    while let dropped = foreignDomain(kept.span, 0..<kept.count, host) { kept.removeSubrange(dropped) }
    return kept
  }

  /// Returns a `Set-Cookie` value without each attribute `Domain` because of which a browser would reject the cookie; `nil`
  /// if there is none.
  ///
  /// - Parameter host: The host to which the browser has sent the request, in lower case and without a port.
  public static func droppingForeignDomains(_ value: String, host: String) -> String? {
    let bytes = FieldText.encode(value)
    guard foreignDomain(bytes.span, 0..<bytes.count, host) != nil else { return nil }
    return FieldText.decode(droppingForeignDomains(bytes.span, 0..<bytes.count, host))
  }

  /// Returns the cookie pair or attribute from `position` to the next semicolon, without blanks at its beginning. Moves
  /// `position` behind the semicolon.
  private static func nextPair(_ bytes: Span<UInt8>, _ position: inout Int, _ end: Int) -> Range<Int> {
    while position < end, bytes[position].isBlank { position += 1 }
    let start = position
    while position < end, bytes[position] != 0x3b { position += 1 }
    let pair = start..<position
    if position < end { position += 1 }
    return pair
  }

  /// True if the pair or attribute has this name, in any letter case. Cookie names are case-sensitive, but a server
  /// that folds case must not receive the cookie under another spelling. False for an empty name.
  private static func isNamed(_ name: String, _ bytes: Span<UInt8>, _ pair: Range<Int>) -> Bool {
    let count = name.utf8.count
    guard count > 0, pair.count >= count else { return false }
    var position = pair.lowerBound
    for byte in name.utf8 {
      if bytes[position].lowercasedASCII != byte.lowercasedASCII { return false }
      position += 1
    }
    while position < pair.upperBound, bytes[position].isBlank { position += 1 }
    return position == pair.upperBound || bytes[position] == 0x3d
  }
}
