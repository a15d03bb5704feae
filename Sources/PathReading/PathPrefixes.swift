internal import ByteText

/// Finds the longest of several prefixes under which a path lies.
///
/// Prefixes consist of whole segments: `/app` and `/app/x` lie under `/app`, `/apple` does not. Letter case does not
/// matter, and parameters such as `;jsessionid=1` do not belong to a segment. A path that servers may read in several
/// ways (`PathVariants`) lies under a prefix only if it does in each of them. Nearly all paths have only one reading,
/// which is compared without an allocation.
public final class PathPrefixes: Sendable {
  /// The result of a search.
  public enum Match: Sendable, Equatable {
    /// The path lies under no prefix.
    case none
    /// The path lies under the prefix at this index.
    case prefix(Int)
    /// Servers may read the path in several ways that lie under different prefixes, or there are too many ways to
    /// compare.
    case ambiguous
  }

  private struct Entry {
    /// The prefix in lower case, without a slash at its end.
    let text: [UInt8]
    let segments: CanonicalPath
    let index: Int
  }

  /// The prefixes, the longest first.
  private let entries: [Entry]

  /// Creates the table. Each prefix must satisfy `isPlain(_:)`.
  public init(_ prefixes: [String]) {
    entries = prefixes.enumerated().map { index, prefix in
      var text = prefix.utf8.map(\.lowercasedASCII)
      while text.last == UInt8(ascii: "/") { text.removeLast() }
      return Entry(text: text, segments: CanonicalPath(text: text), index: index)
    }.sorted { $0.text.count > $1.text.count }
  }

  /// Returns the longest prefix under which the path lies.
  ///
  /// - Parameter path: The request target in front of the first question mark.
  public func match(_ path: Span<UInt8>) -> Match {
    guard PathPrefixes.isPlain(path) else { return matchReadings(path) }
    for entry in entries where PathPrefixes.lies(path, under: entry.text) { return .prefix(entry.index) }
    return .none
  }

  /// True if all servers read the path in the same way, apart from letter case: no step of `PathVariants` changes it.
  public static func isPlain(_ path: Span<UInt8>) -> Bool {
    var previous: UInt8 = 0
    for index in path.indices {
      let byte = path[index]
      switch byte {
      case UInt8(ascii: "/"):
        guard previous != UInt8(ascii: "/"), previous != UInt8(ascii: ".") else { return false }
      case UInt8(ascii: "%"), UInt8(ascii: "+"), UInt8(ascii: "\\"), UInt8(ascii: "|"), UInt8(ascii: ";"),
        UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "("), 0x00...0x20, 0x7f...0xff:
        return false
      default: break
      }
      previous = byte
    }
    return previous != UInt8(ascii: ".")
  }

  private static func lies(_ path: Span<UInt8>, under prefix: [UInt8]) -> Bool {
    guard path.count >= prefix.count, path.count == prefix.count || path[prefix.count] == UInt8(ascii: "/") else {
      return false
    }
    for index in prefix.indices where path[index].lowercasedASCII != prefix[index] { return false }
    return true
  }

  @inline(never)
  private func matchReadings(_ path: Span<UInt8>) -> Match {
    var budget = PathVariants.Budget()
    guard !EndpointMatcher.isTooComplex(path),
      let texts = PathVariants.texts(
        of: PathVariants.withoutParameters([UInt8](copying: path)), within: &budget)
    else { return .ambiguous }
    let matches = Set(
      texts.map { text in
        let reading = CanonicalPath(text: text)
        return entries.first { reading.lies(under: $0.segments) }?.index
      })
    guard matches.count == 1, let match = matches.first else { return .ambiguous }
    return match.map { .prefix($0) } ?? .none
  }
}
