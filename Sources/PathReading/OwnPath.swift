internal import ByteText

/// The path under which the gateway has its own endpoints.
struct OwnPath: Sendable {
  /// The path with a slash at both ends, such as `/.proofgate/`.
  private let prefix: [UInt8]
  /// The path without its slashes: one segment.
  let name: [UInt8]
  /// The letters and digits of `name`, for a quick check.
  let letters: LetterPrefilter

  init(_ path: String) {
    prefix = Array(path.utf8)
    name = prefix.filter { $0 != UInt8(ascii: "/") }
    letters = LetterPrefilter(name)
  }

  /// True if `path` begins with this path and every server reads it in the same way: each further segment consists of
  /// lower-case letters, digits, `-`, `.` and `_`, is not empty, and does not begin with a period.
  func contains(_ path: Span<UInt8>) -> Bool {
    guard path.count > prefix.count, path.starts(with: prefix.span) else { return false }
    var previous = UInt8(ascii: "/")
    for index in prefix.count..<path.count {
      let byte = path[index]
      let isEmptySegment = byte == UInt8(ascii: "/") && previous == UInt8(ascii: "/")
      let isHidden = byte == UInt8(ascii: ".") && previous == UInt8(ascii: "/")
      guard !isEmptySegment, !isHidden, byte == UInt8(ascii: "/") || CanonicalPath.isPlain(byte) else { return false }
      previous = byte
    }
    return previous != UInt8(ascii: "/")
  }
}
