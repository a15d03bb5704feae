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
    let plain = CanonicalPath(text: LenientDecoding.decoded(path))
    segments = CanonicalPath.withoutFrontController(CanonicalPath.withoutSuffix(plain.segments))
  }

  /// The reading of an endpoint's own path with the suffix that it has.
  init(beginningOf path: [UInt8]) {
    segments = CanonicalPath.withoutFrontController(CanonicalPath(text: LenientDecoding.decoded(path)).segments)
  }

  /// The segments as they are written, in lower case; empty ones and `.` mean nothing.
  init(text: [UInt8]) {
    segments = text.split(separator: UInt8(ascii: "/")).filter { !$0.elementsEqual(".".utf8) }
      .map { $0.map(CanonicalPath.lowercased) }
  }

  /// Programs in one path: each may be the one that runs.
  private static let mostPrograms = 4

  /// Everything that some server could take a path with these spellings for; `nil` for more programs than any path has.
  static func readings(of spellings: Set<CanonicalPath>) -> Set<CanonicalPath>? {
    var readings = spellings
    for spelling in spellings {
      guard let others = spelling.otherReadings else { return nil }
      readings.formUnion(others)
    }
    return readings
  }

  /// What follows a program's name, as `/index.php/authorize` is `/authorize` to programs that read what follows their own,
  /// the same below the program's directory, and a name that is looked up wherever it stands.
  private var otherReadings: [CanonicalPath]? {
    let programs = segments.indices.dropLast().filter { CanonicalPath.isProgram(segments[$0]) }
    guard programs.count <= CanonicalPath.mostPrograms else { return nil }
    var readings: [CanonicalPath] = []
    for index in programs {
      let rest = segments[(index + 1)...]
      readings.append(CanonicalPath(segments: Array(rest)))
      if index > 0 { readings.append(CanonicalPath(segments: Array(segments[..<index]) + rest)) }
    }
    if segments.count > 1, let last = segments.last, CanonicalPath.isHandler(last) {
      readings.append(CanonicalPath(segments: [last]))
    }
    return readings
  }

  /// True if a server that has `endpoint` could run it for this path: what follows goes to it as path information, as
  /// `/token/x`, `/token.php/x` and `/token/.json` do (RFC 3875, section 4.1.5), and a suffix chooses a format.
  func reaches(_ endpoint: CanonicalPath) -> Bool {
    guard !endpoint.segments.isEmpty, segments.count >= endpoint.segments.count else { return false }
    return zip(segments, endpoint.segments).allSatisfy { SegmentMatcher($0).isRead(as: $1) }
  }

  /// True if the path begins like `endpoint`, written with the suffix that it has, and continues within the segment, as
  /// `/oauth/tokenx` does: servers that compare the beginning of a path run the endpoint.
  func continues(_ endpoint: CanonicalPath) -> Bool {
    let last = endpoint.segments.count - 1
    guard last >= 0, segments.count > last else { return false }
    return SegmentMatcher(segments[last]).begins(like: endpoint.segments[last])
      && zip(segments, endpoint.segments[..<last]).allSatisfy { SegmentMatcher($0).isRead(as: $1) }
  }

  /// How many segments of this endpoint's path a program can stand for that is at one of the places, or in a directory above
  /// it: what it reads from the query makes up the rest.
  func prefixLengths(matching places: Set<CanonicalPath>) -> [Int] {
    segments.indices.filter { count in places.contains { $0.segments.starts(with: segments[..<count]) } }
  }

  /// True if the path runs a program, or the one of a directory.
  var isController: Bool { segments.last.map(CanonicalPath.isProgram) ?? true }

  /// True if the path runs the program that a site has for everything.
  var isFrontController: Bool {
    guard let last = segments.last else { return true }
    guard CanonicalPath.isProgram(last), let period = last.firstIndex(of: UInt8(ascii: ".")) else { return false }
    return CanonicalPath.frontControllers.contains(String(decoding: last[..<period], as: UTF8.self))
  }

  private static let frontControllers: Set<String> = [
    "index", "default", "app", "app_dev", "main", "front", "home", "start", "web", "api", "router", "route", "dispatch",
    "dispatcher", "controller",
  ]

  var isOwn: Bool { segments.first == CanonicalPath.ownName }

  /// True if this path begins with every segment of `prefix`.
  func lies(under prefix: CanonicalPath) -> Bool { segments.starts(with: prefix.segments) }

  /// Programs that some servers find in any directory.
  private static let handlers: Set<String> = ["action", "ashx", "axd", "asmx", "svc"]

  private static func isHandler(_ segment: [UInt8]) -> Bool {
    guard let period = segment.lastIndex(of: UInt8(ascii: ".")), period > 0 else { return false }
    return handlers.contains(String(decoding: segment[(period + 1)...], as: UTF8.self))
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

  static func isProgram(_ segment: [UInt8]) -> Bool {
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
