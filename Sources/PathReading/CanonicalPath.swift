internal import ByteText

/// One way in which a server may read a path: its segments in lower case.
///
/// A program is a segment with a suffix such as `.php`. A server may run the file that this segment names, and pass the
/// rest of the path to the running program as path information (RFC 3875, section 4.1.5).
struct CanonicalPath: Hashable, Sendable {
  let segments: [[UInt8]]

  init(segments: [[UInt8]]) {
    self.segments = segments
  }

  /// Reads an endpoint path and removes the suffix of its last segment, and the segments up to and including the last
  /// program. Every reading of a request path is compared with the result.
  init(endpoint path: [UInt8]) {
    let complete = CanonicalPath(text: LenientDecoding.decoded(path))
    segments = CanonicalPath.afterLastProgram(CanonicalPath.withoutSuffix(complete.segments))
  }

  /// Does the same as `init(endpoint:)`, but keeps the suffix of the last segment.
  init(endpointWithSuffix path: [UInt8]) {
    segments = CanonicalPath.afterLastProgram(CanonicalPath(text: LenientDecoding.decoded(path)).segments)
  }

  /// Creates the reading of a decoded path: its segments in lower case, without empty segments and `.`, which servers
  /// ignore.
  init(text: [UInt8]) {
    segments = text.split(separator: UInt8(ascii: "/")).filter { !$0.elementsEqual(".".utf8) }
      .map { $0.map(\.lowercasedASCII) }
  }

  /// The maximum number of programs in one path. Each of them adds one or two readings, because each may be the one
  /// that the server runs.
  private static let maximumPrograms = 4

  /// Returns all readings of a path: its spellings (see `PathVariants`), and the readings of each spelling by a program
  /// in it (`otherReadings`). `nil` if a spelling contains too many programs.
  static func readings(of spellings: Set<CanonicalPath>) -> Set<CanonicalPath>? {
    var readings = spellings
    for spelling in spellings {
      guard let others = spelling.otherReadings else { return nil }
      readings.formUnion(others)
    }
    return readings
  }

  /// The readings by servers that run a program in the path; `nil` if the path contains too many programs.
  ///
  /// The program `/dir/index.php` may read `/dir/index.php/authorize` as `/authorize` or, relative to its own
  /// directory, as `/dir/authorize`. Some servers find a program with one of the `handlerSuffixes` in any directory.
  /// For a path that ends with such a program, the last segment alone is also a reading.
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

  /// True if a server may serve a request for this path at `endpoint`: some server reads the first segments of this
  /// path as the segments of the endpoint path (`SegmentMatcher`). This path may have more segments, as in `/token/x`,
  /// `/token.php/x` and `/token/.json`. The server may pass these segments to the program as path information, or
  /// select a format by their suffix.
  func mayBeServed(by endpoint: CanonicalPath) -> Bool {
    guard !endpoint.segments.isEmpty, segments.count >= endpoint.segments.count else { return false }
    return zip(segments, endpoint.segments).allSatisfy { SegmentMatcher($0).isRead(as: $1) }
  }

  /// The first segment of well-known paths (RFC 8615).
  private static let wellKnown = Array(".well-known".utf8)

  /// True if this path has one of the well-known endpoint paths behind its first segment.
  func hasWellKnownPathBelowFolder(of endpoints: some Sequence<CanonicalPath>) -> Bool {
    let places = segments.indices.dropFirst().filter {
      SegmentMatcher(segments[$0]).isRead(as: CanonicalPath.wellKnown)
    }
    return places.contains { index in
      let rest = CanonicalPath(segments: Array(segments[index...]))
      return endpoints.contains { endpoint in
        endpoint.segments.count == 2 && endpoint.segments[0] == CanonicalPath.wellKnown
          && rest.mayBeServed(by: endpoint)
      }
    }
  }

  /// True if this path begins with the endpoint path, including the suffix of the endpoint path. The last segment of
  /// the endpoint path may be only the beginning of a segment of this path, as in `/oauth/tokenx`. A server that
  /// compares only the beginning of a path serves such a path at the endpoint.
  func begins(like endpoint: CanonicalPath) -> Bool {
    let last = endpoint.segments.count - 1
    guard last >= 0, segments.count > last else { return false }
    return SegmentMatcher(segments[last]).begins(like: endpoint.segments[last])
      && zip(segments, endpoint.segments[..<last]).allSatisfy { SegmentMatcher($0).isRead(as: $1) }
  }

  /// Returns the lengths, in segments, of the proper prefixes of this endpoint path with which a path in `spellings`
  /// begins. A program at such a prefix may read the rest of the endpoint path from the query.
  func prefixLengths(sharedWith spellings: Set<CanonicalPath>) -> [Int] {
    segments.indices.filter { count in spellings.contains { $0.segments.starts(with: segments[..<count]) } }
  }

  /// True if the last segment is a program, or if the path is the root, for which servers usually run a program.
  var runsProgram: Bool { segments.last.map(CanonicalPath.isProgram) ?? true }

  /// True for the root, and for a program with a name such as `index.php`, through which many sites serve all their
  /// pages.
  var isFrontController: Bool {
    guard let last = segments.last else { return true }
    guard CanonicalPath.isProgram(last), let period = last.firstIndex(of: UInt8(ascii: ".")) else { return false }
    return CanonicalPath.frontControllers.contains(String(decoding: last[..<period], as: UTF8.self))
  }

  private static let frontControllers: Set<String> = [
    "index", "default", "app", "app_dev", "main", "front", "home", "start", "web", "api", "router", "route", "dispatch",
    "dispatcher", "controller",
  ]

  /// True if the first segments of this path are those of `prefix`.
  func lies(under prefix: CanonicalPath) -> Bool { segments.starts(with: prefix.segments) }

  /// The suffixes of programs that some servers find in any directory.
  private static let handlerSuffixes: Set<String> = ["action", "ashx", "axd", "asmx", "svc"]

  private static func isHandler(_ segment: [UInt8]) -> Bool {
    guard let period = segment.lastIndex(of: UInt8(ascii: ".")), period > 0 else { return false }
    return handlerSuffixes.contains(String(decoding: segment[(period + 1)...], as: UTF8.self))
  }

  /// Removes the suffix of the last segment. Some frameworks read `authorize.json` as `authorize` and select a format
  /// by the suffix.
  private static func withoutSuffix(_ segments: [[UInt8]]) -> [[UInt8]] {
    guard let last = segments.last, let period = last.firstIndex(of: UInt8(ascii: ".")), period > 0 else {
      return segments
    }
    return segments.dropLast() + [Array(last[..<period])]
  }

  /// The suffixes of programs. `html` and `htm` are among them because a server can be configured to run such files.
  private static let programSuffixes: Set<String> = [
    "php", "php3", "php4", "php5", "php7", "phtml", "cgi", "fcgi", "pl", "py", "wsgi", "rb", "asp", "aspx", "ashx",
    "jsp", "jspx", "do", "action", "cfm", "dll", "exe", "lua", "php2", "php6", "php8", "phps", "pht", "phar", "inc",
    "svc",
    "asmx", "axd", "asax", "rem", "soap", "cshtml", "vbhtml", "jsf", "jspf", "jspa", "jws", "faces", "xhtml", "seam",
    "cfc",
    "shtml", "pm", "fpl", "pyc", "tcl", "sh", "bat", "cmd", "nsf", "html", "htm",
  ]

  /// True if the segment has a suffix of a program. The segment must be in lower case.
  static func isProgram(_ segment: [UInt8]) -> Bool {
    guard let period = segment.lastIndex(of: UInt8(ascii: ".")), period > 0 else { return false }
    return programSuffixes.contains(String(decoding: segment[(period + 1)...], as: UTF8.self))
  }

  /// Removes the segments up to and including the last program, because a program that reads path information reads
  /// `/index.php/authorize` as `/authorize`. Removes nothing if the last program is the last segment.
  private static func afterLastProgram(_ segments: [[UInt8]]) -> [[UInt8]] {
    guard let last = segments.lastIndex(where: isProgram), last < segments.count - 1 else { return segments }
    return Array(segments[(last + 1)...])
  }

  /// True for lower-case letters, digits, `-`, `.` and `_`, which every server reads in the same way.
  static func isPlain(_ byte: UInt8) -> Bool {
    byte.isLowercaseLetter || byte.isDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
      || byte == UInt8(ascii: "_")
  }
}
