internal import ByteText

/// An entry of `upstream.not_endpoints`: a path that resembles an endpoint path but is not one. A request path is
/// compared with it byte by byte and without decoding, except at `*`.
///
/// `*` matches one segment that is not empty. The segment may contain letters, digits, `-`, `_`, `=`, the escapes of
/// `+`, `/` and `=`, and periods that each follow a letter or digit. Every server reads these characters in the same
/// way.
struct NotEndpointPattern: Sendable {
  /// The segments of the path; `nil` for `*`.
  private let segments: [[UInt8]?]

  init(_ path: String) {
    segments = NotEndpointPattern.segments(of: Array(path.utf8)).map { $0.elementsEqual("*".utf8) ? nil : Array($0) }
  }

  func matches(_ path: [UInt8]) -> Bool {
    let parts = NotEndpointPattern.segments(of: path)
    guard parts.count == segments.count else { return false }
    return zip(parts, segments).allSatisfy { part, segment in
      segment.map { part.elementsEqual($0) } ?? NotEndpointPattern.matchesWildcard(part)
    }
  }

  private static func segments(of path: [UInt8]) -> [ArraySlice<UInt8>] {
    path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
  }

  /// True if `*` matches the segment.
  private static func matchesWildcard(_ segment: ArraySlice<UInt8>) -> Bool {
    var rest = segment
    var periodMayFollow = false
    while let byte = rest.popFirst() {
      switch byte {
      case _ where byte.isLetterOrDigit: periodMayFollow = true
      case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "="): periodMayFollow = false
      case UInt8(ascii: ".") where periodMayFollow: periodMayFollow = false
      case UInt8(ascii: "%") where escapes.contains { rest.starts(with: $0.utf8) }:
        rest = rest.dropFirst(2)
        periodMayFollow = false
      default: return false
      }
    }
    return !segment.isEmpty
  }

  /// The escapes of `+`, `/` and `=`.
  private static let escapes = ["2B", "2b", "2F", "2f", "3D", "3d"]

  /// Returns the entry of `not_endpoints` that would permit a path: the path, with `*` in place of each segment that
  /// may be an id or a secret, so that the entry can be logged. Returns `nil` if the path does not begin with a slash,
  /// is longer than 256 bytes, or has a segment that `*` does not match. An empty last segment (a slash at the end) is
  /// allowed.
  static func entry(for path: [UInt8]) -> String? {
    guard path.first == UInt8(ascii: "/"), path.count <= maximumEntryLength else { return nil }
    let segments = segments(of: path).dropFirst()
    var parts: [String] = []
    for (index, segment) in segments.enumerated() {
      if segment.isEmpty, index == segments.count - 1, index > 0 {
        parts.append("")
      } else if isWord(segment) {
        parts.append(String(decoding: segment, as: UTF8.self))
      } else {
        guard matchesWildcard(segment) else { return nil }
        parts.append("*")
      }
    }
    return "/" + parts.joined(separator: "/")
  }

  /// The maximum length in bytes of a path for which `entry(for:)` returns an entry.
  private static let maximumEntryLength = 256

  /// True if the segment looks like a name in the routes of a program. Codes, tokens and ids are longer or have more
  /// digits.
  private static func isWord(_ segment: ArraySlice<UInt8>) -> Bool {
    guard let first = segment.first, first.isLetter, segment.count <= 32 else { return false }
    return segment.count(where: \.isDigit) <= 2 && matchesWildcard(segment)
      && segment.allSatisfy { CanonicalPath.isPlain($0.lowercasedASCII) }
  }
}
