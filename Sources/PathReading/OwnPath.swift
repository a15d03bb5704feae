/// The path under which the gateway has its own endpoints.
struct OwnPath: Sendable {
  /// The path with both slashes, such as `/.proofgate/`.
  private let prefix: [UInt8]
  /// The only segment of the path.
  let name: [UInt8]
  let letters: LetterPrefilter

  init(_ path: String) {
    prefix = Array(path.utf8)
    name = prefix.filter { $0 != UInt8(ascii: "/") }
    letters = LetterPrefilter(name)
  }

  /// True if the path belongs to the gateway itself and contains only characters that every server reads in the same
  /// way.
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
