/// What a path comes down to for a server that forgives everything: segments in lower-case ASCII.
///
/// No server does all of this; each step is known of some, and a path that needs even one step is not written exactly.
struct CanonicalPath: Equatable, Sendable {
  let segments: [[UInt8]]

  /// The first segment of everything that is the gateway's own.
  static let ownName = Array(".proofgate".utf8)

  init(segments: [[UInt8]]) {
    self.segments = segments
  }

  /// The reading of an endpoint's own path, to which every reading of a request's path is compared.
  init(endpoint path: [UInt8]) {
    let resolved = CanonicalPath.resolved(LiberalDecoding.decoded(path))
    segments = CanonicalPath.withoutFrontController(CanonicalPath.withoutSuffix(resolved))
  }

  /// Everything that some server could take the path for.
  static func readings(of path: [UInt8]) -> [CanonicalPath] {
    var readings: [CanonicalPath] = []
    for spelling in spellings(of: path) {
      let direct = withoutFrontController(withoutSuffix(spelling.segments))
      // `/authorize.php/anything` runs `/authorize.php`.
      let script = spelling.segments.firstIndex(where: isProgram).map { withoutSuffix(Array(spelling.segments[...$0])) }
      for segments in [direct, script].compactMap({ $0 }) where !readings.contains(CanonicalPath(segments: segments)) {
        readings.append(CanonicalPath(segments: segments))
      }
    }
    return readings
  }

  /// The path with encodings and dot segments resolved, in each way in which servers resolve them: a control character
  /// ends the path (C strings) or is left out (WHATWG URL), a semicolon ends its segment or everything.
  static func spellings(of path: [UInt8]) -> [CanonicalPath] {
    // An encoded question mark or number sign ends the path for servers that decode first.
    let bytes = LiberalDecoding.decoded(path).prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    let cut = Array(bytes.prefix { !isControl($0) })
    let dropped = bytes.filter { !isControl($0) }
    var spellings: [CanonicalPath] = []
    for variant in [cut, dropped] {
      for text in [variant, Array(variant.prefix { $0 != UInt8(ascii: ";") })] {
        let spelling = CanonicalPath(segments: resolved(text))
        if !spellings.contains(spelling) { spellings.append(spelling) }
      }
    }
    return spellings
  }

  var isOwn: Bool { segments.first == CanonicalPath.ownName }

  /// Whether this path begins with every segment of `prefix`.
  func lies(under prefix: CanonicalPath) -> Bool { segments.starts(with: prefix.segments) }

  private static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7f }

  /// Splits at slashes and backslashes, cuts `;` parameters, drops empty and `.` segments, and lets `..` go up.
  private static func resolved(_ bytes: [UInt8]) -> [[UInt8]] {
    var resolved: [[UInt8]] = []
    for piece in bytes.split(whereSeparator: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }) {
      var segment = piece.prefix { $0 != UInt8(ascii: ";") }.drop { $0 == UInt8(ascii: " ") }
      while segment.last == UInt8(ascii: " ") { segment.removeLast() }
      if segment.elementsEqual("..".utf8) {
        _ = resolved.popLast()
        continue
      }
      // Windows drops periods and spaces at the end of a name.
      while let last = segment.last, last == UInt8(ascii: ".") || last == UInt8(ascii: " ") { segment.removeLast() }
      if !segment.isEmpty { resolved.append(Array(segment)) }
    }
    return resolved
  }

  /// `authorize.json` is `authorize` to frameworks that choose a format by suffix.
  private static func withoutSuffix(_ segments: [[UInt8]]) -> [[UInt8]] {
    guard let last = segments.last, let period = last.firstIndex(of: UInt8(ascii: ".")), period > 0 else {
      return segments
    }
    return segments.dropLast() + [Array(last[..<period])]
  }

  private static let programs: Set<String> = [
    "php", "php3", "php4", "php5", "php7", "phtml", "cgi", "fcgi", "pl", "py", "wsgi", "rb", "asp", "aspx", "ashx",
    "jsp", "jspx", "do", "action", "cfm", "dll", "exe", "lua",
  ]

  private static func isProgram(_ segment: [UInt8]) -> Bool {
    guard let period = segment.lastIndex(of: UInt8(ascii: ".")), period > 0 else { return false }
    return programs.contains(String(decoding: segment[(period + 1)...], as: UTF8.self))
  }

  /// `/index.php/authorize` is `/authorize` to programs that read what follows their own name.
  private static func withoutFrontController(_ segments: [[UInt8]]) -> [[UInt8]] {
    guard let last = segments.lastIndex(where: isProgram), last < segments.count - 1 else { return segments }
    return Array(segments[(last + 1)...])
  }

  /// Characters that every server reads the same.
  static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x61...0x7a, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
    default: false
    }
  }

  static func lowercased(_ byte: UInt8) -> UInt8 { byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte }
}
