/// A path of `upstream.not_endpoints`, which only resembles an endpoint. It matches in exactly one spelling.
///
/// `*` matches one segment: an identifier or a base64 value in characters that every server reads in the same way.
struct ExactPath: Sendable {
  /// The segments; `nil` for `*`.
  private let segments: [[UInt8]?]

  init(_ path: String) {
    segments = ExactPath.segments(of: Array(path.utf8)).map { $0.elementsEqual("*".utf8) ? nil : Array($0) }
  }

  func matches(_ path: [UInt8]) -> Bool {
    let parts = ExactPath.segments(of: path)
    guard parts.count == segments.count else { return false }
    return zip(parts, segments).allSatisfy { part, segment in
      segment.map { part.elementsEqual($0) } ?? ExactPath.isValue(part)
    }
  }

  private static func segments(of path: [UInt8]) -> [ArraySlice<UInt8>] {
    path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
  }

  /// True for a segment that no server splits or drops: each period follows a letter or digit, and only base64
  /// characters are escaped.
  private static func isValue(_ segment: ArraySlice<UInt8>) -> Bool {
    var rest = segment
    var mayBePeriod = false
    while let byte = rest.popFirst() {
      switch byte {
      case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: mayBePeriod = true
      case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "="): mayBePeriod = false
      case UInt8(ascii: ".") where mayBePeriod: mayBePeriod = false
      case UInt8(ascii: "%") where escapes.contains { rest.starts(with: $0.utf8) }:
        rest = rest.dropFirst(2)
        mayBePeriod = false
      default: return false
      }
    }
    return !segment.isEmpty
  }

  /// The escapes of `+`, `/` and `=`.
  private static let escapes = ["2B", "2b", "2F", "2f", "3D", "3d"]

  /// The entry of `not_endpoints` that would permit a path: the path itself, with `*` for each segment that may be an
  /// identifier or a secret, so that it can be logged. `nil` for a path that no entry can name.
  static func entry(for path: [UInt8]) -> String? {
    guard path.first == UInt8(ascii: "/"), path.count <= longestEntry else { return nil }
    let segments = segments(of: path).dropFirst()
    var parts: [String] = []
    for (index, segment) in segments.enumerated() {
      if segment.isEmpty, index == segments.count - 1, index > 0 {
        parts.append("")
      } else if isWord(segment) {
        parts.append(String(decoding: segment, as: UTF8.self))
      } else {
        guard isValue(segment) else { return nil }
        parts.append("*")
      }
    }
    return "/" + parts.joined(separator: "/")
  }

  private static let longestEntry = 256

  /// True for a name in the routes of a program; codes, tokens and ids are longer or have more digits.
  private static func isWord(_ segment: ArraySlice<UInt8>) -> Bool {
    guard let first = segment.first, (first | 0x20) &- 0x61 < 26, segment.count <= 32 else { return false }
    return segment.count { $0 &- 0x30 < 10 } <= 2 && isValue(segment)
      && segment.allSatisfy { CanonicalPath.isPlain(CanonicalPath.lowercased($0)) }
  }
}
