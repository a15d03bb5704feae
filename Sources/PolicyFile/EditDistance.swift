/// The edit distance between words, for suggestions such as "did you mean".
public enum EditDistance {
  /// Returns the candidate with the smallest distance to `word`; `nil` if no candidate is similar. A candidate is
  /// similar if the distance is 1, or at most a third of the length of the longer of the two words.
  public static func nearest(to word: String, among candidates: [String]) -> String? {
    // All candidates are much shorter than 64 bytes, so a longer word is not similar to any of them.
    guard word.utf8.count <= 64 else { return nil }
    var best: (candidate: String, distance: Int)?
    for candidate in candidates {
      let distance = between(Array(word.lowercased().utf8), Array(candidate.lowercased().utf8))
      guard distance <= max(1, max(word.utf8.count, candidate.utf8.count) / 3) else { continue }
      if best.map({ distance < $0.distance }) ?? true { best = (candidate, distance) }
    }
    return best?.candidate
  }

  /// Returns the smallest number of insertions, deletions, replacements and swaps of adjacent bytes that turn one word
  /// into the other.
  static func between(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var rowBeforeLast: [Int] = []
    var lastRow = Array(0...right.count)
    for row in left.indices {
      var currentRow = [row + 1]
      for column in right.indices {
        var cost = min(
          lastRow[column + 1] + 1, currentRow[column] + 1, lastRow[column] + (left[row] == right[column] ? 0 : 1))
        if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
          cost = min(cost, rowBeforeLast[column - 1] + 1)
        }
        currentRow.append(cost)
      }
      rowBeforeLast = lastRow
      lastRow = currentRow
    }
    return lastRow[right.count]
  }
}
