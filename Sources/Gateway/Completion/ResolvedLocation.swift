internal import ByteText

/// A URL as a browser resolves it, without query and fragment, in a canonical spelling (RFC 3986, section 6.2; WHATWG
/// URL, "basic URL parser"). It is used only in comparisons.
///
/// Where browsers, apps and servers parse URLs differently, this type parses a URL like the most lenient program. The
/// parts are bytes, because in a string Swift would join a slash and a following combining mark into one character,
/// unlike browsers.
struct ResolvedLocation: Hashable, Sendable {
  /// The scheme in lower case.
  let scheme: [UInt8]
  /// The decoded authority in lower case, without user information, the default port and a dot at the end of the host.
  /// IP addresses are in their canonical form. Empty for schemes other than http and https.
  let authority: [UInt8]
  /// The decoded path, without dot segments and empty segments. Empty for schemes other than http and https, because an
  /// app that has registered such a scheme gets every URL with this scheme.
  let path: [UInt8]

  /// - Parameters:
  ///   - base: The URL against which a relative reference is resolved; `nil` if the reference is an absolute URL. Only
  ///     the scheme and authority of `base` are used: a relative path is resolved against the root.
  ///   - isRelativeAfterScheme: True to resolve a reference that has the scheme of `base` and fewer than two slashes
  ///     after it, such as `https:/cb`, as a path on the authority of `base`.
  init(_ reference: some Collection<UInt8>, on base: ResolvedLocation?, isRelativeAfterScheme: Bool = false) {
    // Browsers ignore control characters and spaces at the beginning, and tabs and line ends everywhere.
    let address = reference.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    let text = address.filter { $0 != 0x09 && $0 != 0x0a && $0 != 0x0d }.drop { $0 <= 0x20 }
    let ownScheme = ResolvedLocation.scheme(of: text)
    scheme = ownScheme ?? base?.scheme ?? []
    guard scheme == ResolvedLocation.http || scheme == ResolvedLocation.https else {
      authority = []
      path = []
      return
    }
    let slashed = ResolvedLocation.replacingBackslashes(text.dropFirst(ownScheme.map { $0.count + 1 } ?? 0))
    let leading = slashed.prefix { $0 == ResolvedLocation.slash }.count
    // After a scheme, an authority may follow any number of slashes, even none. Without a scheme, the authority follows
    // two or more slashes.
    let isRelative = ownScheme == nil || isRelativeAfterScheme && ownScheme == base?.scheme
    if !isRelative || leading >= 2 {
      let remainder = slashed.dropFirst(leading)
      let end = remainder.firstIndex(of: ResolvedLocation.slash) ?? remainder.endIndex
      authority = ResolvedLocation.authority(remainder[..<end], isSecure: scheme == ResolvedLocation.https)
      path = ResolvedLocation.path(remainder[end...])
    } else {
      authority = base?.authority ?? []
      path = ResolvedLocation.path(slashed[...])
    }
  }

  /// Returns the locations to which a reference may lead. Usually there is one. There are two if the reference has the
  /// scheme of `base` and fewer than two slashes after it: then browsers resolve the rest as a path on the authority of
  /// `base`, and other programs parse it as an authority and a path.
  static func interpretations(of reference: [UInt8], on base: ResolvedLocation) -> [ResolvedLocation] {
    let location = ResolvedLocation(reference, on: base)
    // The usual spellings, a path or a scheme with two slashes, have one interpretation.
    if reference.first == slash || reference.starts(with: base.scheme + [UInt8(ascii: ":"), slash, slash]) {
      return [location]
    }
    let relative = ResolvedLocation(reference, on: base, isRelativeAfterScheme: true)
    return location == relative ? [location] : [location, relative]
  }

  init(_ reference: String, on base: ResolvedLocation?) { self.init(reference.utf8, on: base) }

  private init(scheme: [UInt8], authority: [UInt8], path: [UInt8]) {
    self.scheme = scheme
    self.authority = authority
    self.path = path
  }

  /// The same location without the port.
  var withoutPort: ResolvedLocation {
    let end = authority.lastIndex(of: UInt8(ascii: "]")).map { $0 + 1 } ?? authority.firstIndex(of: UInt8(ascii: ":"))
    return ResolvedLocation(scheme: scheme, authority: Array(authority[..<(end ?? authority.endIndex)]), path: path)
  }

  private static let http = Array("http".utf8)
  private static let https = Array("https".utf8)
  private static let slash = UInt8(ascii: "/")

  /// True if the location leads to the machine of the browser: a loopback or unspecified address, or a `localhost`
  /// name.
  var isLoopback: Bool {
    guard scheme == ResolvedLocation.http || scheme == ResolvedLocation.https else { return false }
    let isBracketed = authority.first == UInt8(ascii: "[")
    let host = isBracketed ? authority[...] : authority.prefix { $0 != UInt8(ascii: ":") }
    if let address = HostAddress(host) { return address.isLoopback }
    return host.elementsEqual("localhost".utf8) || host.suffix(10).elementsEqual(".localhost".utf8)
  }

  /// True if the host contains a character outside ASCII. Browsers map some of these characters, for example full-width
  /// letters, to ASCII.
  var hasNonASCIIHost: Bool { !authority.span.isASCII }

  /// Decodes each valid `%XX` once. Does not change anything else.
  static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8] {
    PercentDecoding.lenient(text.span)
  }

  /// Replaces backslashes by slashes, as browsers do.
  private static func replacingBackslashes(_ text: some Collection<UInt8>) -> [UInt8] {
    text.map { $0 == UInt8(ascii: "\\") ? slash : $0 }
  }

  /// Returns the scheme with which the text begins, in lower case; `nil` if the text has no scheme (RFC 3986, section
  /// 3.1).
  private static func scheme(of text: ArraySlice<UInt8>) -> [UInt8]? {
    guard let colon = text.firstIndex(of: UInt8(ascii: ":")), let first = text.first, first.isLetter else {
      return nil
    }
    let name = text[..<colon]
    let isName = name.allSatisfy {
      $0.isLetterOrDigit || $0 == 0x2b || $0 == 0x2d || $0 == 0x2e
    }
    return isName ? name.map(\.lowercasedASCII) : nil
  }

  /// Returns the authority in the form of the property `authority`.
  private static func authority(_ text: ArraySlice<UInt8>, isSecure: Bool) -> [UInt8] {
    let hostAndPort = text.lastIndex(of: UInt8(ascii: "@")).map { text[($0 + 1)...] } ?? text
    var host = decoded(hostAndPort)
    for index in host.indices { host[index] = host[index].lowercasedASCII }
    let isBracketed = host.first == UInt8(ascii: "[")
    guard let colon = host.lastIndex(of: UInt8(ascii: ":")), !isBracketed || !host[colon...].contains(UInt8(ascii: "]"))
    else { return canonical(withoutTrailingDot(host[...])) }
    let name = canonical(withoutTrailingDot(host[..<colon]))
    let port = Int(String(decoding: host[(colon + 1)...], as: UTF8.self))
    guard let port, port != (isSecure ? 443 : 80) else { return name }
    return name + Array(":\(port)".utf8)
  }

  /// Returns the canonical text of an IP address in any notation that browsers accept. Returns a host name unchanged.
  private static func canonical(_ host: [UInt8]) -> [UInt8] {
    HostAddress(host[...]).map { Array($0.description.utf8) } ?? host
  }

  /// Removes a dot at the end of a host name, because the name leads to the same host with and without the dot.
  private static func withoutTrailingDot(_ name: ArraySlice<UInt8>) -> [UInt8] {
    Array(name.last == UInt8(ascii: ".") ? name.dropLast() : name)
  }

  /// Returns the path in the form of the property `path`.
  private static func path(_ text: ArraySlice<UInt8>) -> [UInt8] {
    let bytes = decoded(text)
    var path: [UInt8] = []
    path.reserveCapacity(bytes.count + 1)
    var start = 0
    while start < bytes.count {
      let end = bytes[start...].firstIndex { $0 == slash || $0 == UInt8(ascii: "\\") } ?? bytes.count
      let segment = bytes[start..<end]
      start = end + 1
      if segment.isEmpty || segment.elementsEqual(".".utf8) { continue }
      if segment.elementsEqual("..".utf8) {
        // Each segment in the path has a slash in front of it.
        while let last = path.popLast(), last != slash {}
      } else {
        path.append(slash)
        path += segment
      }
    }
    return path.isEmpty ? [slash] : path
  }
}
