internal import ByteText

/// One way in which a server may read a path: its segments in lower case.
///
/// A program is a segment with a suffix such as `.php`. A server may run the file that this segment names, and pass the
/// rest of the path to the running program as path information (RFC 3875, section 4.1.5).
struct CanonicalPath: Sendable {
  /// The path in lower case.
  private let text: [UInt8]
  /// The letters and digits of all segments, in order.
  private let letters: [UInt8]
  /// The segments without empty ones and `.`, which servers ignore.
  let segments: [PathSegment]

  /// Creates the reading of a decoded path.
  init(text: [UInt8]) {
    let text = text.map(\.lowercasedASCII)
    var letters: [UInt8] = []
    letters.reserveCapacity(text.count)
    var segments: [PathSegment] = []
    let bytes = text.span
    var start = 0
    while start < bytes.count {
      let end = bytes.firstIndex(of: UInt8(ascii: "/"), from: start) ?? bytes.count
      if end > start, !(end == start + 1 && bytes[start] == UInt8(ascii: ".")) {
        segments.append(PathSegment(bytes, from: start, to: end, &letters))
      }
      start = end + 1
    }
    self.text = text
    self.letters = letters
    self.segments = segments
  }

  /// The maximum number of programs in one path. Each of them adds one or two readings, because each may be the one
  /// that the server runs.
  private static let maximumPrograms = 4

  /// The path itself, and the readings by servers that run a program in the path; `nil` if the path contains too many
  /// programs.
  ///
  /// The program `/dir/index.php` may read `/dir/index.php/authorize` as `/authorize` or, relative to its own
  /// directory, as `/dir/authorize`. Some servers find a program with one of the `handlerSuffixes` in any directory.
  /// For a path that ends with such a program, the last segment alone is also a reading. A server that negotiates content
  /// (`MultiViews` of Apache) runs `index.php` for the segment `index`.
  var readings: [PathReading]? {
    var readings = [PathReading(self, keeping: 0, from: 0)]
    var programs = 0
    for index in segments.indices.dropLast() where isProgram(segments[index]) {
      programs += 1
      guard programs <= CanonicalPath.maximumPrograms else { return nil }
      readings.append(PathReading(self, keeping: 0, from: index + 1))
      if index > 0 { readings.append(PathReading(self, keeping: index, from: index + 1)) }
    }
    if segments.count > 1, let last = segments.last, CanonicalPath.isHandler(bytes(of: last)) {
      readings.append(PathReading(self, keeping: 0, from: segments.count - 1))
    }
    return readings
  }

  /// The reading by a site whose front controller also answers below its own folder: without the first segment that is
  /// the name of such a folder, as in `/public/oauth/token`, or without a folder of programs and the program in it, as in
  /// `/cgi-bin/app/oauth/token`. `nil` without such a segment.
  var readingBelowFolder: PathReading? {
    for index in segments.indices.dropLast() {
      let name = bytes(of: segments[index])
      if CanonicalPath.publicFolders.contains(where: { name.elementsEqual($0) }) {
        return PathReading(self, keeping: index, from: index + 1)
      }
      if name.elementsEqual(CanonicalPath.programFolder), index + 2 < segments.count {
        return PathReading(self, keeping: index, from: index + 2)
      }
    }
    return nil
  }

  /// The folders that contain the front controller of a site, in the frameworks that have one.
  private static let publicFolders = ["public", "web", "webroot", "www", "htdocs", "public_html"].map { Array($0.utf8) }
  private static let programFolder = Array("cgi-bin".utf8)
  private static let index = Array("index".utf8)

  private func isProgram(_ segment: PathSegment) -> Bool {
    CanonicalPath.isProgram(bytes(of: segment)) || equals(segment, CanonicalPath.index)
  }

  /// The bytes of a segment, in lower case.
  func bytes(of segment: PathSegment) -> ArraySlice<UInt8> { text[Int(segment.start)..<Int(segment.end)] }

  /// True if the segment has exactly these bytes.
  func equals(_ segment: PathSegment, _ name: [UInt8]) -> Bool {
    text.span.extracting(Int(segment.start)..<Int(segment.end)).isEqual(to: name.span)
  }

  /// True if some server treats the segment as `name`, a segment of an endpoint path.
  ///
  /// A server may compare only the letters and digits, because some frameworks derive method names from segments. It
  /// may ignore a suffix, or the text from a separator on. Windows also finds a file by its short name.
  func isRead(_ segment: PathSegment, as name: SegmentName) -> Bool {
    if equals(segment, name.text) { return true }
    guard !name.letters.isEmpty else { return false }
    return segment.mayHave(letters: name.letters.count) && begins(segment, like: name) || isShortName(segment, of: name)
  }

  /// True if the letters and digits of the segment begin with those of `name`.
  func begins(_ segment: PathSegment, like name: SegmentName) -> Bool {
    let count = name.letters.count
    guard count > 0, count <= segment.letterCount else { return false }
    let first = Int(segment.firstLetter)
    return letters.span.extracting(first..<first + count).isEqual(to: name.letters.span)
  }

  /// True if the segment is the Windows short file name of `name`, such as `author~1` for `authorize`. If several names
  /// begin alike, Windows keeps two characters and adds four digits of a hash: `au12ab~1`.
  private func isShortName(_ segment: PathSegment, of name: SegmentName) -> Bool {
    let tilde = 6
    let kept = 2
    guard segment.end - segment.start > tilde + 1 else { return false }
    let bytes = text.span.extracting(Int(segment.start)..<Int(segment.end))
    guard bytes[tilde] == UInt8(ascii: "~"), bytes[tilde + 1].isDigit else { return false }
    let front = bytes.extracting(0..<tilde)
    if front.firstIndex(of: UInt8(ascii: "~")) == nil, name.text.span.starts(with: front) { return true }
    return name.text.span.starts(with: front.extracting(0..<kept))
      && (kept..<tilde).allSatisfy { index in
        front[index].isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(front[index])
      }
  }

  /// True if the last segment is a program, or if the path is the root, for which servers usually run a program.
  var runsProgram: Bool { segments.last.map(isProgram) ?? true }

  /// True for the root, and for a program with a name such as `index.php`, through which many sites serve all their
  /// pages.
  var isFrontController: Bool {
    guard let last = segments.last.map({ bytes(of: $0) }) else { return true }
    return last.elementsEqual(CanonicalPath.index) || CanonicalPath.isFrontController(last)
  }

  /// True for a program with the name of a front controller.
  static func isFrontController(_ segment: ArraySlice<UInt8>) -> Bool {
    guard isProgram(segment), let period = segment.firstIndex(of: UInt8(ascii: ".")) else { return false }
    return frontControllers.contains(String(decoding: segment[..<period], as: UTF8.self))
  }

  private static let frontControllers: Set<String> = [
    "index", "default", "app", "app_dev", "main", "front", "home", "start", "web", "api", "router", "route", "dispatch",
    "dispatcher", "controller",
  ]

  /// True if the first segments of this path are those of `prefix`.
  func lies(under prefix: CanonicalPath) -> Bool {
    segments.count >= prefix.segments.count
      && zip(segments, prefix.segments).allSatisfy { bytes(of: $0) == prefix.bytes(of: $1) }
  }

  /// True if some server treats the first segments of this path as the first `count` ones of an endpoint path. The last
  /// of them may be a program, as in `/oauth.php`.
  func begins(with endpoint: EndpointPath, count: Int) -> Bool {
    segments.count >= count && (0..<count).allSatisfy { isRead(segments[$0], as: endpoint.names[$0]) }
  }

  /// The suffixes of programs that some servers find in any directory.
  private static let handlerSuffixes: Set<String> = ["action", "ashx", "axd", "asmx", "svc"]

  private static func isHandler(_ segment: ArraySlice<UInt8>) -> Bool {
    suffix(of: segment).map(handlerSuffixes.contains) ?? false
  }

  /// The maximum length of the suffixes in the tables.
  private static let maximumSuffixLength = 6

  /// Returns the text after the last period of a segment, in lower case; `nil` if it is longer than each known suffix, or
  /// if the segment begins with this period.
  private static func suffix(of segment: ArraySlice<UInt8>) -> String? {
    let end = segment.suffix(maximumSuffixLength + 1)
    guard let period = end.lastIndex(of: UInt8(ascii: ".")), period > segment.startIndex else { return nil }
    return String(decoding: end[(period + 1)...].map(\.lowercasedASCII), as: UTF8.self)
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

  /// True if the segment has a suffix of a program.
  static func isProgram(_ segment: ArraySlice<UInt8>) -> Bool {
    suffix(of: segment).map(programSuffixes.contains) ?? false
  }

  /// True for lower-case letters, digits, `-`, `.` and `_`, which every server reads in the same way.
  static func isPlain(_ byte: UInt8) -> Bool {
    byte.isLowercaseLetter || byte.isDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
      || byte == UInt8(ascii: "_")
  }
}
