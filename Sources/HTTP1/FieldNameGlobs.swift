internal import ByteText

/// A set of globs for field names, such as `iv-*` or `*-s-dn`. A `*` matches any number of characters.
///
/// Names and globs are compared in their folded form (`foldedInName`): lower case, with `-` for everything except
/// letters and digits. So `iv-*` also matches `IV_User`. Servers that turn field names into variable names cannot
/// distinguish `IV_User` from `IV-User`.
struct FieldNameGlobs: Sendable {
  /// One glob, split at each `*`.
  private struct Glob: Sendable {
    /// The text with which a name must begin; may be empty.
    let prefix: [UInt8]
    /// The texts that a name must contain in this order between `prefix` and `suffix`.
    let infixes: [[UInt8]]
    /// The text with which a name must end; may be empty. `nil` for a glob without `*`: a name must then equal
    /// `prefix`.
    let suffix: [UInt8]?
    /// The glob as it was configured.
    let text: String

    init(_ text: String) {
      self.text = text
      let parts = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
        .map { $0.map(\.foldedInName) }
      prefix = parts.first ?? []
      infixes = parts.dropFirst().dropLast().filter { !$0.isEmpty }
      suffix = parts.count > 1 ? parts.last : nil
    }

    func matches(_ bytes: Span<UInt8>, _ name: Range<Int>) -> Bool {
      guard Glob.starts(bytes, name, with: prefix) else { return false }
      guard let suffix else { return name.count == prefix.count }
      var start = name.lowerBound + prefix.count
      let end = name.upperBound - suffix.count
      guard start <= end, Glob.starts(bytes, end..<name.upperBound, with: suffix) else { return false }
      for part in infixes {
        while start + part.count <= end, !Glob.starts(bytes, start..<end, with: part) { start += 1 }
        start += part.count
        guard start <= end else { return false }
      }
      return true
    }

    private static func starts(_ bytes: Span<UInt8>, _ range: Range<Int>, with text: [UInt8]) -> Bool {
      guard range.count >= text.count else { return false }
      for offset in 0..<text.count where bytes[range.lowerBound + offset].foldedInName != text[offset] { return false }
      return true
    }
  }

  /// A hash table of the globs that do not begin with `*`. Element `slot(b)` contains those whose first byte is `b`.
  /// Most elements are empty, so most names are compared with no glob.
  private let globsByFirstByte: [[Glob]]
  /// A hash table, by the last byte, of the globs that begin with `*` and do not end with `*`.
  private let globsByLastByte: [[Glob]]
  /// The globs that begin and end with `*`.
  private let otherGlobs: [Glob]
  /// One bit for each element of `globsByFirstByte` that is not empty.
  private let usedFirstSlots: UInt64
  /// One bit for each element of `globsByLastByte` that is not empty.
  private let usedLastSlots: UInt64
  let isEmpty: Bool

  init(_ globs: [String]) {
    var byFirst = [[Glob]](repeating: [], count: 64)
    var byLast = [[Glob]](repeating: [], count: 64)
    var others: [Glob] = []
    for glob in globs.map(Glob.init) {
      if let first = glob.prefix.first {
        byFirst[FieldNameGlobs.slot(first)].append(glob)
      } else if let last = glob.suffix?.last {
        byLast[FieldNameGlobs.slot(last)].append(glob)
      } else {
        others.append(glob)
      }
    }
    globsByFirstByte = byFirst
    globsByLastByte = byLast
    otherGlobs = others
    usedFirstSlots = FieldNameGlobs.usedSlots(of: byFirst)
    usedLastSlots = FieldNameGlobs.usedSlots(of: byLast)
    isEmpty = globs.isEmpty
  }

  /// True if a glob matches the non-empty name in `range`.
  func matches(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
    if isEmpty { return false }
    let first = FieldNameGlobs.slot(bytes[range.lowerBound].foldedInName)
    if usedFirstSlots &>> UInt64(truncatingIfNeeded: first) & 1 == 1,
      globsByFirstByte[first].contains(where: { $0.matches(bytes, range) })
    {
      return true
    }
    let last = FieldNameGlobs.slot(bytes[range.upperBound - 1].foldedInName)
    if usedLastSlots &>> UInt64(truncatingIfNeeded: last) & 1 == 1,
      globsByLastByte[last].contains(where: { $0.matches(bytes, range) })
    {
      return true
    }
    return otherGlobs.contains { $0.matches(bytes, range) }
  }

  /// Returns the text of a glob that matches the non-empty name in `range`; `nil` if no glob matches.
  func glob(matching bytes: Span<UInt8>, _ range: Range<Int>) -> String? {
    for globs in globsByFirstByte + globsByLastByte + [otherGlobs] {
      for glob in globs where glob.matches(bytes, range) { return glob.text }
    }
    return nil
  }

  /// Returns the index in `globsByFirstByte` and `globsByLastByte` for a folded byte, which is a letter, a digit or a
  /// hyphen. Two bytes may have the same index; then a name is compared with a few more globs than necessary.
  private static func slot(_ folded: UInt8) -> Int { Int(folded & 63) }

  private static func usedSlots(of slots: [[Glob]]) -> UInt64 {
    slots.indices.reduce(0) { slots[$1].isEmpty ? $0 : $0 | 1 << $1 }
  }
}
