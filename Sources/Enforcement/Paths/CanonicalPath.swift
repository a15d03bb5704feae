/// What a path comes down to for a server: segments in lower case.
struct CanonicalPath: Hashable, Sendable {
  let segments: [[UInt8]]

  /// The first segment of everything that is the gateway's own.
  static let ownName = Array(".proofgate".utf8)

  init(segments: [[UInt8]]) {
    self.segments = segments
  }

  /// The reading of an endpoint's own path, to which every reading of a request's path is compared.
  init(endpoint path: [UInt8]) {
    let plain = CanonicalPath(text: LiberalDecoding.decoded(path))
    segments = CanonicalPath.withoutFrontController(CanonicalPath.withoutSuffix(plain.segments))
  }

  /// The segments as they are written, in lower case; empty ones and `.` mean nothing.
  init(text: [UInt8]) {
    segments = text.split(separator: UInt8(ascii: "/")).filter { !$0.elementsEqual(".".utf8) }
      .map { $0.map(CanonicalPath.lowercased) }
  }

  /// Everything that some server could take the path for: the whole in each of its spellings, and what follows a program's
  /// name, as `/index.php/authorize` is `/authorize` to programs that read what follows their own. `nil` when there are
  /// too many.
  static func readings(of path: [UInt8]) -> Set<CanonicalPath>? {
    spellings(of: path).map { Set($0.flatMap(\.tails)) }
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

  /// The path in every way in which servers spell it for themselves; `nil` when there are too many.
  static func spellings(of path: [UInt8]) -> Set<CanonicalPath>? {
    PathSpellings.texts(of: path).map { Set($0.map(CanonicalPath.init(text:))) }
  }

  var isOwn: Bool { segments.first == CanonicalPath.ownName }

  /// Whether this path begins with every segment of `prefix`.
  func lies(under prefix: CanonicalPath) -> Bool { segments.starts(with: prefix.segments) }

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
