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

  /// Everything that some server could take the path for: the whole, and what follows a program's name, as
  /// `/index.php/authorize` is `/authorize` to programs that read what follows their own name.
  static func readings(of path: [UInt8]) -> [CanonicalPath] {
    var readings: [CanonicalPath] = []
    for spelling in spellings(of: path) {
      for reading in spelling.tails where !readings.contains(reading) { readings.append(reading) }
    }
    return readings
  }

  /// The path, and what follows each program in it.
  private var tails: [CanonicalPath] {
    [self]
      + segments.indices.dropLast().filter { CanonicalPath.isProgram(segments[$0]) }
      .map { CanonicalPath(segments: Array(segments[($0 + 1)...])) }
  }

  /// Whether a server that has `endpoint` could run it for this path: what follows goes to it as path information, as
  /// `/token/x`, `/token.php/x` and `/token/.json` do (RFC 3875, section 4.1.5), and a suffix chooses a format.
  func reaches(_ endpoint: CanonicalPath) -> Bool {
    guard let last = endpoint.segments.last, segments.count >= endpoint.segments.count else { return false }
    let end = endpoint.segments.count - 1
    guard segments[..<end] == endpoint.segments[..<end] else { return false }
    return segments[end] == last || CanonicalPath.withoutSuffix([segments[end]]) == [last]
  }

  /// Whether a program that reads its route from the query could run `endpoint` for this value, at `path` or below one of
  /// the directories above it.
  func routes(to endpoint: CanonicalPath, from path: CanonicalPath) -> Bool {
    endpoint.segments.indices.contains { kept in
      path.segments.starts(with: endpoint.segments[..<kept])
        && reaches(CanonicalPath(segments: Array(endpoint.segments[kept...])))
    }
  }

  /// Whether the path runs a program, or the one of a directory.
  var isController: Bool { segments.last.map(CanonicalPath.isProgram) ?? true }

  /// Whether the path runs the program that a site has for everything.
  var isFrontController: Bool {
    guard let last = segments.last else { return true }
    guard CanonicalPath.isProgram(last), let period = last.firstIndex(of: UInt8(ascii: ".")) else { return false }
    return CanonicalPath.frontControllers.contains(String(decoding: last[..<period], as: UTF8.self))
  }

  private static let frontControllers: Set<String> = [
    "index", "default", "app", "app_dev", "main", "front", "home", "start", "web", "api", "router", "route", "dispatch",
    "dispatcher", "controller",
  ]

  /// The path with encodings and dot segments resolved, in each way in which servers resolve them: a control character
  /// ends the path or its segment (C strings) or is left out (WHATWG URL), a semicolon ends its segment or everything.
  static func spellings(of path: [UInt8]) -> [CanonicalPath] {
    // An encoded question mark or number sign ends the path for servers that decode first.
    let bytes = LiberalDecoding.decoded(path).prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    let cut = Array(bytes.prefix { !isControl($0) })
    var variants = [cut]
    if cut.count < bytes.count { variants += [bytes.filter { !isControl($0) }, endingSegmentsAtControls(bytes)] }
    if bytes.contains(UInt8(ascii: "(")) {
      variants += [withoutSessions(cut, joining: false), withoutSessions(cut, joining: true)]
    }
    var spellings: [CanonicalPath] = []
    for variant in variants {
      for text in [variant, Array(variant.prefix { $0 != UInt8(ascii: ";") })] {
        for kept in Hollow.choices(for: text) {
          let spelling = CanonicalPath(segments: resolved(text, keeping: kept))
          if !spellings.contains(spelling) { spellings.append(spelling) }
        }
      }
    }
    return spellings
  }

  var isOwn: Bool { segments.first == CanonicalPath.ownName }

  /// Whether this path begins with every segment of `prefix`.
  func lies(under prefix: CanonicalPath) -> Bool { segments.starts(with: prefix.segments) }

  private static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7f }

  private static func isSlash(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }

  private static func endingSegmentsAtControls(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    let segments = bytes.split(omittingEmptySubsequences: false, whereSeparator: isSlash)
    return Array(segments.map { $0.prefix { !isControl($0) } }.joined(separator: [UInt8(ascii: "/")]))
  }

  /// Segments that come down to nothing and that `..` takes away all the same, on some servers: RFC 3986, section 5.2.4
  /// and the WHATWG parser read `/authorize//..` as `/authorize/`, others merge the slashes first.
  private struct Hollow: OptionSet {
    let rawValue: UInt8

    /// Between two slashes.
    static let empty = Hollow(rawValue: 1)
    /// Of spaces, periods or parameters alone.
    static let blank = Hollow(rawValue: 2)

    /// It makes no difference without a `..`.
    static func choices(for bytes: [UInt8]) -> [Hollow] {
      let hasParent = zip(bytes, bytes.dropFirst()).contains { $0 == UInt8(ascii: ".") && $1 == UInt8(ascii: ".") }
      return hasParent ? [[], [.empty], [.blank], [.empty, .blank]] : [[]]
    }
  }

  /// Splits at slashes and backslashes, cuts `;` parameters, drops empty and `.` segments, and lets `..` go up.
  private static func resolved(_ bytes: [UInt8], keeping hollow: Hollow = []) -> [[UInt8]] {
    var resolved: [[UInt8]] = []
    let pieces = bytes.split(omittingEmptySubsequences: false, whereSeparator: isSlash)
    // Before the first slash there is nothing.
    for piece in pieces.first?.isEmpty ?? false ? pieces.dropFirst() : pieces[...] {
      var segment = piece.prefix { $0 != UInt8(ascii: ";") }.drop { $0 == UInt8(ascii: " ") }
      while segment.last == UInt8(ascii: " ") { segment.removeLast() }
      if segment.elementsEqual("..".utf8) {
        _ = resolved.popLast()
        continue
      }
      // Windows drops periods and spaces at the end of a name.
      while let last = segment.last, last == UInt8(ascii: ".") || last == UInt8(ascii: " ") { segment.removeLast() }
      let isKept = piece.isEmpty ? hollow.contains(.empty) : !piece.elementsEqual(".".utf8) && hollow.contains(.blank)
      if !segment.isEmpty || isKept { resolved.append(Array(segment)) }
    }
    return resolved.filter { !$0.isEmpty }
  }

  /// Leaves out `(S(x))`, where ASP.NET keeps a session without cookies; with `joining` the slash before it, too, so that
  /// `to/(S(x))ken` is `token`.
  private static func withoutSessions(_ bytes: [UInt8], joining: Bool) -> [UInt8] {
    var result: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if let end = endOfSession(bytes, at: index) {
        if joining, let last = result.last, isSlash(last) { result.removeLast() }
        index = end
      } else {
        result.append(bytes[index])
        index += 1
      }
    }
    return result
  }

  /// The offset behind `(` 1*( letter `(` text `)` ) `)`; `nil` when there is no such thing at `start`.
  private static func endOfSession(_ bytes: [UInt8], at start: Int) -> Int? {
    guard bytes[start] == UInt8(ascii: "(") else { return nil }
    var index = start + 1
    while index + 1 < bytes.count, bytes[index] &- 0x61 < 26, bytes[index + 1] == UInt8(ascii: "(") {
      guard let end = bytes[index...].firstIndex(of: UInt8(ascii: ")")) else { return nil }
      index = end + 1
    }
    guard index > start + 1, index < bytes.count, bytes[index] == UInt8(ascii: ")") else { return nil }
    return index + 1
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
    "jsp", "jspx", "do", "action", "cfm", "dll", "exe", "lua", "php2", "php6", "php8", "phps", "pht", "phar", "inc",
    "svc",
    "asmx", "axd", "asax", "rem", "soap", "cshtml", "vbhtml", "jsf", "jspf", "jspa", "jws", "faces", "xhtml", "seam",
    "cfc",
    "shtml", "pm", "fpl", "pyc", "tcl", "sh", "bat", "cmd", "nsf", "html", "htm",
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
