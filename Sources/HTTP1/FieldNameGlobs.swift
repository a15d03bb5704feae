/// A set of globs of field names, such as `iv-*` or `*-s-dn`, matched against the bytes of a head.
///
/// Names and globs are compared in their folded form (`ASCII.folded`): lower case, with `-` for everything except
/// letters and digits. So `iv-*` also matches `IV_User`, which servers that make a variable of the name read as the
/// same field.
struct FieldNameGlobs: Sendable {
  /// The texts that a name must begin with, contain in this order, and end with. A glob without `*` has only `head`.
  private struct Glob: Sendable {
    let head: [UInt8]
    let middle: [[UInt8]]
    /// `nil` for a glob without `*`, which is the whole name.
    let tail: [UInt8]?
    let text: String

    init(_ text: String) {
      self.text = text
      let parts = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
        .map { $0.map(ASCII.folded) }
      head = parts.first ?? []
      middle = parts.dropFirst().dropLast().filter { !$0.isEmpty }
      tail = parts.count > 1 ? parts.last : nil
    }

    func matches(_ bytes: Span<UInt8>, _ name: Range<Int>) -> Bool {
      guard Glob.starts(bytes, name, head) else { return false }
      guard let tail else { return name.count == head.count }
      var start = name.lowerBound + head.count
      let end = name.upperBound - tail.count
      guard start <= end, Glob.starts(bytes, end..<name.upperBound, tail) else { return false }
      for part in middle {
        while start + part.count <= end, !Glob.starts(bytes, start..<end, part) { start += 1 }
        start += part.count
        guard start <= end else { return false }
      }
      return true
    }

    private static func starts(_ bytes: Span<UInt8>, _ range: Range<Int>, _ text: [UInt8]) -> Bool {
      guard range.count >= text.count else { return false }
      for offset in 0..<text.count where ASCII.folded(bytes[range.lowerBound + offset]) != text[offset] { return false }
      return true
    }
  }

  /// Globs by the first byte of the name; a glob that begins with `*` by the last byte. Most names select none of
  /// them.
  private let byFirst: [[Glob]]
  private let byLast: [[Glob]]
  private let others: [Glob]
  /// One bit for each used slot of `byFirst` and `byLast`.
  private let firstBytes: UInt64
  private let lastBytes: UInt64
  let isEmpty: Bool

  init(_ globs: [String]) {
    var byFirst = [[Glob]](repeating: [], count: 64)
    var byLast = [[Glob]](repeating: [], count: 64)
    var others: [Glob] = []
    for glob in globs.map(Glob.init) {
      if let first = glob.head.first {
        byFirst[FieldNameGlobs.slot(first)].append(glob)
      } else if let last = glob.tail?.last {
        byLast[FieldNameGlobs.slot(last)].append(glob)
      } else {
        others.append(glob)
      }
    }
    self.byFirst = byFirst
    self.byLast = byLast
    self.others = others
    firstBytes = FieldNameGlobs.bits(of: byFirst)
    lastBytes = FieldNameGlobs.bits(of: byLast)
    isEmpty = globs.isEmpty
  }

  /// True if a glob matches the non-empty name in `range`.
  func matches(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
    if isEmpty { return false }
    let first = FieldNameGlobs.slot(ASCII.folded(bytes[range.lowerBound]))
    if firstBytes >> UInt64(first) & 1 == 1, byFirst[first].contains(where: { $0.matches(bytes, range) }) {
      return true
    }
    let last = FieldNameGlobs.slot(ASCII.folded(bytes[range.upperBound - 1]))
    if lastBytes >> UInt64(last) & 1 == 1, byLast[last].contains(where: { $0.matches(bytes, range) }) { return true }
    return others.contains { $0.matches(bytes, range) }
  }

  /// Returns the text of a glob that matches the non-empty name in `range`; `nil` if no glob matches.
  func glob(matching bytes: Span<UInt8>, _ range: Range<Int>) -> String? {
    for globs in byFirst + byLast + [others] {
      for glob in globs where glob.matches(bytes, range) { return glob.text }
    }
    return nil
  }

  /// Returns the slot of a folded byte: a letter, a digit or a hyphen. Two bytes that share a slot only cost a
  /// comparison.
  private static func slot(_ folded: UInt8) -> Int { Int(folded & 63) }

  private static func bits(of slots: [[Glob]]) -> UInt64 {
    slots.indices.reduce(0) { slots[$1].isEmpty ? $0 : $0 | 1 << UInt64($1) }
  }
}
