internal import Bytes

/// A URI reference as a browser resolves it, without query and fragment, in one spelling of the many that lead to the
/// same place (RFC 3986, section 6.2; WHATWG URL, "basic URL parser").
///
/// It is compared, never sent: where servers differ it takes the liberal reading. It is bytes, because a slash next to a
/// combining mark is no character to Swift, and a slash to everybody else.
struct ResolvedLocation: Hashable, Sendable {
  /// Lower case.
  let scheme: [UInt8]
  /// Lower case, without user information and default port; empty where the scheme has none.
  let authority: [UInt8]
  /// Decoded, without dot segments and empty ones. Of other schemes than http and https it is empty: the app that owns a
  /// scheme gets all that is addressed to it.
  let path: [UInt8]

  /// - Parameter base: what a relative reference is resolved against: an origin, so its path counts from the root.
  init(_ reference: some Collection<UInt8>, on base: ResolvedLocation?) {
    // Browsers drop controls and spaces at the beginning, tabs and line ends everywhere.
    let kept = reference.filter { $0 != 0x09 && $0 != 0x0a && $0 != 0x0d }
    let text = kept.drop { $0 <= 0x20 }.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    let named = ResolvedLocation.scheme(of: text)
    scheme = named ?? base?.scheme ?? []
    guard scheme == ResolvedLocation.http || scheme == ResolvedLocation.https else {
      authority = []
      path = []
      return
    }
    let slashed = ResolvedLocation.slashed(text.dropFirst(named.map { $0.count + 1 } ?? 0))
    let leading = slashed.prefix { $0 == ResolvedLocation.slash }.count
    // With a scheme of its own any number of slashes comes before the authority; without one, two or more do.
    if named != nil || leading >= 2 {
      let remainder = slashed.dropFirst(leading)
      let end = remainder.firstIndex(of: ResolvedLocation.slash) ?? remainder.endIndex
      authority = ResolvedLocation.authority(remainder[..<end], isSecure: scheme == ResolvedLocation.https)
      path = ResolvedLocation.path(remainder[end...])
    } else {
      authority = base?.authority ?? []
      path = ResolvedLocation.path(slashed[...])
    }
  }

  init(_ reference: String, on base: ResolvedLocation?) { self.init(reference.utf8, on: base) }

  private init(scheme: [UInt8], authority: [UInt8], path: [UInt8]) {
    self.scheme = scheme
    self.authority = authority
    self.path = path
  }

  /// The same location on any port.
  var withoutPort: ResolvedLocation {
    let end = authority.lastIndex(of: UInt8(ascii: "]")).map { $0 + 1 } ?? authority.firstIndex(of: UInt8(ascii: ":"))
    return ResolvedLocation(scheme: scheme, authority: Array(authority[..<(end ?? authority.endIndex)]), path: path)
  }

  private static let http = Array("http".utf8)
  private static let https = Array("https".utf8)
  private static let slash = UInt8(ascii: "/")

  /// True if it leads to the machine that the browser runs on.
  var isLoopback: Bool {
    guard scheme == ResolvedLocation.http || scheme == ResolvedLocation.https else { return false }
    let isBracketed = authority.first == UInt8(ascii: "[")
    let host = isBracketed ? authority[...] : authority.prefix { $0 != UInt8(ascii: ":") }
    if let address = HostAddress(host) { return address.isLoopback }
    return host.elementsEqual("localhost".utf8) || host.suffix(10).elementsEqual(".localhost".utf8)
  }

  /// True if the host has a character that browsers may turn into one of ASCII, as they do with full-width letters.
  var isInternational: Bool { !authority.span.isASCII }

  /// Every `%XX` that can be decoded, once.
  static func decoded(_ text: some Collection<UInt8>) -> [UInt8] {
    var bytes = Array(text)
    var kept = 0
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
        let high = bytes[index + 1].hexadecimalValue, let low = bytes[index + 2].hexadecimalValue
      {
        bytes[kept] = high << 4 | low
        index += 3
      } else {
        bytes[kept] = bytes[index]
        index += 1
      }
      kept += 1
    }
    bytes.removeLast(bytes.count - kept)
    return bytes
  }

  /// With slashes for backslashes, as browsers read them.
  private static func slashed(_ text: some Collection<UInt8>) -> [UInt8] {
    text.map { $0 == UInt8(ascii: "\\") ? slash : $0 }
  }

  /// RFC 3986, section 3.1.
  private static func scheme(of text: ArraySlice<UInt8>) -> [UInt8]? {
    guard let colon = text.firstIndex(of: UInt8(ascii: ":")), let first = text.first, (first | 0x20) &- 0x61 < 26 else {
      return nil
    }
    let name = text[..<colon]
    let isName = name.allSatisfy {
      ($0 | 0x20) &- 0x61 < 26 || $0 &- 0x30 < 10 || $0 == 0x2b || $0 == 0x2d || $0 == 0x2e
    }
    return isName ? name.map(\.lowercasedASCII) : nil
  }

  private static func authority(_ text: ArraySlice<UInt8>, isSecure: Bool) -> [UInt8] {
    let named = text.lastIndex(of: UInt8(ascii: "@")).map { text[($0 + 1)...] } ?? text
    let host = decoded(named).map(\.lowercasedASCII)
    let isBracketed = host.first == UInt8(ascii: "[")
    guard let colon = host.lastIndex(of: UInt8(ascii: ":")), !isBracketed || !host[colon...].contains(UInt8(ascii: "]"))
    else { return canonical(withoutDot(host[...])) }
    let name = canonical(withoutDot(host[..<colon]))
    let port = Int(String(decoding: host[(colon + 1)...], as: UTF8.self))
    guard let port, port != (isSecure ? 443 : 80) else { return name }
    return name + Array(":\(port)".utf8)
  }

  /// An address in one notation of the many that browsers read; a name as it is.
  private static func canonical(_ host: [UInt8]) -> [UInt8] {
    HostAddress(host[...]).map { Array($0.description.utf8) } ?? host
  }

  /// A name with a dot at its end is the same name.
  private static func withoutDot(_ name: ArraySlice<UInt8>) -> [UInt8] {
    Array(name.last == UInt8(ascii: ".") ? name.dropLast() : name)
  }

  private static func path(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var segments: [ArraySlice<UInt8>] = []
    for segment in slashed(decoded(text)).split(separator: slash) {
      if segment.elementsEqual(".".utf8) { continue }
      if segment.elementsEqual("..".utf8) { _ = segments.popLast() } else { segments.append(segment) }
    }
    return [slash] + Array(segments.joined(separator: [slash]))
  }
}
