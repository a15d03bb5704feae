internal import ByteText

/// The query of a redirect URI that was sent to the upstream. The upstream adds the parameters of its response to this
/// query, and must not change it (RFC 6749, section 3.1.2).
public struct SentQuery: Sendable {
  /// The pairs, as sent, with the number of their occurrences.
  private var pairs: [[UInt8]: Int] = [:]
  /// The names of the pairs, decoded.
  private var names: Set<[UInt8]> = []

  /// Creates a value from the query, without its question mark.
  public init(_ query: Span<UInt8>) {
    for range in SentQuery.pairs(of: query) {
      let pair = query.extracting(range)
      pairs[[UInt8](copying: pair), default: 0] += 1
      names.insert(SentQuery.name(of: pair))
    }
  }

  /// Returns true if a query contains the sent pairs, byte for byte, and no other pair with the name of one of them. The
  /// order does not matter, because some servers sort the parameters. All other pairs are ignored.
  public func isKept(in query: Span<UInt8>) -> Bool {
    var missing = pairs
    for range in SentQuery.pairs(of: query) {
      let pair = query.extracting(range)
      if let count = missing[[UInt8](copying: pair)] {
        // More occurrences than were sent.
        guard count > 0 else { return false }
        missing[[UInt8](copying: pair)] = count - 1
      } else if names.contains(SentQuery.name(of: pair)) {
        return false
      }
    }
    return missing.values.allSatisfy { $0 == 0 }
  }

  /// Returns the name of a pair, decoded, or as it is if it cannot be decoded.
  private static func name(of pair: Span<UInt8>) -> [UInt8] {
    let name = pair.extracting(FormParameters.parts(of: pair).name)
    return FormEncoding.decode(name).map { Array($0.utf8) } ?? [UInt8](copying: name)
  }

  /// Returns the ranges of the pairs. Empty ones are left out.
  private static func pairs(of query: Span<UInt8>) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var start = 0
    while start < query.count {
      let end = query.firstIndex(of: UInt8(ascii: "&"), from: start) ?? query.count
      if start < end { ranges.append(start..<end) }
      start = end + 1
    }
    return ranges
  }
}
