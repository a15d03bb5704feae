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
  func contains(_ path: [UInt8]) -> Bool {
    guard path.starts(with: prefix) else { return false }
    let rest = path.dropFirst(prefix.count)
    return !rest.isEmpty
      && rest.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy { segment in
        !segment.isEmpty && segment.first != UInt8(ascii: ".")
          && segment.allSatisfy { CanonicalPath.isPlain($0) }
      }
  }
}
