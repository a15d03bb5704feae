internal import ByteText

/// One canonical reading of a path: its segments in lower case.
struct CanonicalPath: Hashable, Sendable {
  let segments: [[UInt8]]

  init(segments: [[UInt8]]) {
    self.segments = segments
  }

  /// Creates the reading of an endpoint path, without the suffix of its last segment, and without the segments up to
  /// the last program. Every reading of a request path is compared with it.
  init(endpoint path: [UInt8]) {
    let plain = CanonicalPath(text: LenientDecoding.decoded(path))
    segments = CanonicalPath.withoutFrontController(CanonicalPath.withoutSuffix(plain.segments))
  }

  /// Creates the reading of an endpoint path with the suffix of its last segment, but without the segments up to the
  /// last program.
  init(beginningOf path: [UInt8]) {
    segments = CanonicalPath.withoutFrontController(CanonicalPath(text: LenientDecoding.decoded(path)).segments)
  }

  /// Creates the reading of a text: its segments in lower case, without empty ones and `.`, which have no meaning.
  init(text: [UInt8]) {
    segments = text.split(separator: UInt8(ascii: "/")).filter { !$0.elementsEqual(".".utf8) }
      .map { $0.map(\.lowercasedASCII) }
  }

  /// The maximum number of programs in one path. Each of them may be the one that the server runs.
  private static let maximumPrograms = 4

  /// Returns these spellings of a path and all other readings of them; `nil` if a spelling contains too many programs.
  static func readings(of spellings: Set<CanonicalPath>) -> Set<CanonicalPath>? {
    var readings = spellings
    for spelling in spellings {
      guard let others = spelling.otherReadings else { return nil }
      readings.formUnion(others)
    }
    return readings
  }

  /// The readings of servers that run a program in the path. For a program that reads path information,
  /// `/dir/index.php/authorize` is `/authorize`; it is also `/dir/authorize`, below the directory of the program. If
  /// some servers find the program in any directory, the last segment alone is a reading, too.
  private var otherReadings: [CanonicalPath]? {
    let programs = segments.indices.dropLast().filter { CanonicalPath.isProgram(segments[$0]) }
    guard programs.count <= CanonicalPath.maximumPrograms else { return nil }
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

  /// True if a server that has `endpoint` may run it for this path: the path is a spelling of the endpoint path, or
  /// continues it. The server passes the rest to the program as path information, as in `/token/x`, `/token.php/x` and
  /// `/token/.json` (RFC 3875, section 4.1.5), or selects a format by the suffix.
  func reaches(_ endpoint: CanonicalPath) -> Bool {
    guard !endpoint.segments.isEmpty, segments.count >= endpoint.segments.count else { return false }
    return zip(segments, endpoint.segments).allSatisfy { SegmentMatcher($0).isRead(as: $1) }
  }

  /// True if this path begins with the text of `endpoint`, including its suffix, and may continue within the segment,
  /// as `/oauth/tokenx` does. Servers that compare only the beginning of a path run the endpoint for it.
  func continues(_ endpoint: CanonicalPath) -> Bool {
    let last = endpoint.segments.count - 1
    guard last >= 0, segments.count > last else { return false }
    return SegmentMatcher(segments[last]).begins(like: endpoint.segments[last])
      && zip(segments, endpoint.segments[..<last]).allSatisfy { SegmentMatcher($0).isRead(as: $1) }
  }

  /// Returns the lengths, in segments, of those prefixes of this endpoint path with which one of `places` begins. A
  /// program at such a prefix may read the rest of the endpoint path from the query.
  func prefixLengths(matching places: Set<CanonicalPath>) -> [Int] {
    segments.indices.filter { count in places.contains { $0.segments.starts(with: segments[..<count]) } }
  }

  /// True if the last segment is a program, or if the path is the root, for which a server runs a program, too.
  var isController: Bool { segments.last.map(CanonicalPath.isProgram) ?? true }

  /// True if the path is a program through which sites usually serve all their pages, or the root.
  var isFrontController: Bool {
    guard let last = segments.last else { return true }
    guard CanonicalPath.isProgram(last), let period = last.firstIndex(of: UInt8(ascii: ".")) else { return false }
    return CanonicalPath.frontControllers.contains(String(decoding: last[..<period], as: UTF8.self))
  }

  private static let frontControllers: Set<String> = [
    "index", "default", "app", "app_dev", "main", "front", "home", "start", "web", "api", "router", "route", "dispatch",
    "dispatcher", "controller",
  ]

  /// True if this path begins with all segments of `prefix`.
  func lies(under prefix: CanonicalPath) -> Bool { segments.starts(with: prefix.segments) }

  /// The suffixes of programs that some servers find in any directory.
  private static let handlers: Set<String> = ["action", "ashx", "axd", "asmx", "svc"]

  private static func isHandler(_ segment: [UInt8]) -> Bool {
    guard let period = segment.lastIndex(of: UInt8(ascii: ".")), period > 0 else { return false }
    return handlers.contains(String(decoding: segment[(period + 1)...], as: UTF8.self))
  }

  /// Removes the suffix of the last segment. `authorize.json` is `authorize` to frameworks that select a format by the
  /// suffix.
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

  /// Removes the segments up to the last program. `/index.php/authorize` is `/authorize` to programs that read path
  /// information.
  private static func withoutFrontController(_ segments: [[UInt8]]) -> [[UInt8]] {
    guard let last = segments.lastIndex(where: isProgram), last < segments.count - 1 else { return segments }
    return Array(segments[(last + 1)...])
  }

  /// True for the lower-case letters, digits and marks that every server reads in the same way.
  static func isPlain(_ byte: UInt8) -> Bool {
    byte.isLowercaseLetter || byte.isDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
      || byte == UInt8(ascii: "_")
  }
}
