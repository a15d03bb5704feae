internal import ByteText

/// The choice of a language by the field `Accept-Language`.
public enum AcceptLanguage {
  /// Returns the index of the language that a browser prefers; `nil` if it accepts none of them.
  ///
  /// Grammar (RFC 9110, section 12.5.4): `Accept-Language = #( language-range [ weight ] )`. The ranges are looked up in
  /// the order of their weights, each first completely and then with fewer subtags (RFC 4647, section 3.4). A range also
  /// finds a language with more subtags, because a user who reads `pt` can read `pt-BR`. At most 20 ranges of at most 35
  /// bytes are read; the longest tag of RFC 5646, section 4.4.1, has 35.
  ///
  /// - Parameters:
  ///   - acceptLanguage: The text of the fields.
  ///   - languages: The tags of the languages (RFC 5646).
  public static func preferred(_ acceptLanguage: String, among languages: [String]) -> Int? {
    var ranges: [(tag: String, weight: Int)] = []
    var excluded: Set<String> = []
    for element in acceptLanguage.asciiReading.lowercased().split(separator: ",").prefix(20) {
      let parts = element.filter { $0 != " " && $0 != "\t" }.split(separator: ";")
      guard let tag = parts.first, tag.utf8.count <= 35 else { continue }
      let weight = ErrorForm.weight(parts.dropFirst())
      if weight == 0 { excluded.insert(String(tag)) } else { ranges.append((String(tag), weight)) }
    }
    let known = languages.map { $0.lowercased() }
    // Sorting keeps the order of ranges with the same weight.
    for range in ranges.sorted(by: { $0.weight > $1.weight }) {
      // The default language serves the range `*`.
      guard range.tag != "*" else { return nil }
      var tag = range.tag[...]
      while !tag.isEmpty {
        if let index = known.firstIndex(where: { $0 == tag && !excluded.contains($0) }) { return index }
        if let index = known.firstIndex(where: { $0.hasPrefix(tag + "-") && !excluded.contains($0) }) { return index }
        tag = tag[..<(tag.lastIndex(of: "-") ?? tag.startIndex)]
      }
    }
    return nil
  }
}
