/// A URI reference as a browser resolves it, without query and fragment, in one spelling of the many that lead to the
/// same place (RFC 3986, section 6.2; WHATWG URL, "basic URL parser").
///
/// It is compared, never sent: where servers differ it takes the liberal reading.
struct ResolvedLocation: Hashable, Sendable {
  /// Lower case.
  let scheme: String
  /// Lower case, without user information and default port; empty where the scheme has none.
  let authority: String
  /// Decoded, without dot segments and empty ones. Of other schemes than http and https it is empty: the app that owns a
  /// scheme gets all that is addressed to it.
  let path: String

  /// - Parameter base: what a relative reference is resolved against: an origin, so its path counts from the root.
  init(_ reference: some StringProtocol, on base: ResolvedLocation?) {
    // Browsers drop controls and spaces at the ends and tabs everywhere.
    let kept = ResolvedLocation.bytewise(reference).unicodeScalars.filter { $0 != "\t" && $0 != "\n" && $0 != "\r" }
    let trimmed = kept.drop { $0.value <= 0x20 }.prefix { $0 != "?" && $0 != "#" }
    let text = String(String.UnicodeScalarView(trimmed))
    let named = ResolvedLocation.scheme(of: text)
    scheme = named ?? base?.scheme ?? ""
    let rest = named.map { text.dropFirst($0.count + 1) } ?? text[...]
    guard scheme == "http" || scheme == "https" else {
      authority = ""
      path = ""
      return
    }
    let slashed = rest.replacing("\\", with: "/")
    let leading = slashed.prefix { $0 == "/" }.count
    // With a scheme of its own any number of slashes comes before the authority; without one, two or more do.
    if named != nil || leading >= 2 {
      let remainder = slashed.dropFirst(leading)
      let end = remainder.firstIndex(of: "/") ?? remainder.endIndex
      authority = ResolvedLocation.authority(remainder[..<end], scheme: scheme)
      path = ResolvedLocation.path(remainder[end...])
    } else {
      authority = base?.authority ?? ""
      path = ResolvedLocation.path(slashed[...])
    }
  }

  /// Whether it leads to the machine that the browser runs on.
  var isLoopback: Bool {
    guard scheme == "http" || scheme == "https" else { return false }
    let host = authority.hasPrefix("[") ? authority.prefix { $0 != "]" } : authority.prefix { $0 != ":" }
    return host == "localhost" || host.hasSuffix(".localhost") || host.hasPrefix("127.") || host == "[::1"
      || host.hasPrefix("[::ffff:127.") || host.hasPrefix("[::ffff:7f") || host == "[0:0:0:0:0:0:0:1"
  }

  /// Whether the host has a character that browsers may turn into one of ASCII, as they do with full-width letters.
  var isInternational: Bool { !authority.utf8.allSatisfy { $0 < 0x80 } }

  /// The text with each byte as a character of its own: a slash next to a combining mark is no character to Swift, and a
  /// slash to everybody else.
  static func bytewise(_ text: some StringProtocol) -> String {
    var scalars = String.UnicodeScalarView()
    for byte in text.utf8 { scalars.append(Unicode.Scalar(byte)) }
    return String(scalars)
  }

  /// Every `%XX` of a bytewise text that can be decoded, once; bytewise again.
  static func decoded(_ text: some StringProtocol) -> String {
    var bytes: [UInt8] = []
    // A bytewise text has no scalar above 0xff.
    let source = text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    var index = 0
    while index < source.count {
      if source[index] == UInt8(ascii: "%"), index + 2 < source.count,
        let high = hexValue(source[index + 1]), let low = hexValue(source[index + 2])
      {
        bytes.append(high << 4 | low)
        index += 3
      } else {
        bytes.append(source[index])
        index += 1
      }
    }
    var scalars = String.UnicodeScalarView()
    for byte in bytes { scalars.append(Unicode.Scalar(byte)) }
    return String(scalars)
  }

  private static func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x37
    case 0x61...0x66: byte - 0x57
    default: nil
    }
  }

  /// RFC 3986, section 3.1.
  private static func scheme(of text: String) -> String? {
    guard let colon = text.firstIndex(of: ":"), let first = text.first, first.isASCII, first.isLetter else {
      return nil
    }
    let name = text[..<colon]
    let isName = name.utf8.allSatisfy {
      ($0 | 0x20) &- 0x61 < 26 || $0 &- 0x30 < 10 || $0 == 0x2b || $0 == 0x2d || $0 == 0x2e
    }
    return isName ? name.lowercased() : nil
  }

  private static func authority(_ text: Substring, scheme: String) -> String {
    let host = decoded(text.lastIndex(of: "@").map { text[text.index(after: $0)...] } ?? text).lowercased()
    let isBracketed = host.hasPrefix("[")
    guard let colon = host.lastIndex(of: ":"), !isBracketed || host[colon...].allSatisfy({ $0 != "]" }) else {
      return withoutDot(host[...])
    }
    let port = Int(host[host.index(after: colon)...])
    let name = withoutDot(host[..<colon])
    guard let port, port != (scheme == "https" ? 443 : 80) else { return name }
    return "\(name):\(port)"
  }

  /// A name with a dot at its end is the same name.
  private static func withoutDot(_ name: Substring) -> String {
    String(name.hasSuffix(".") ? name.dropLast() : name)
  }

  private static func path(_ text: Substring) -> String {
    var segments: [Substring] = []
    for segment in decoded(text).replacing("\\", with: "/").split(separator: "/") {
      switch segment {
      case ".": continue
      case "..": _ = segments.popLast()
      default: segments.append(segment)
      }
    }
    return "/" + segments.joined(separator: "/")
  }
}
