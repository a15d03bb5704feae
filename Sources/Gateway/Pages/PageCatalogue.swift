import HTTP
import JSON
import Policy
import Proxy

/// The texts of the pages in one language.
struct PageCatalogue: Sendable {
  /// The tag of the language (RFC 5646).
  let language: String
  private let texts: [String: String]

  init(language: String, texts: [String: String]) {
    self.language = language
    self.texts = texts
  }

  /// The languages that the program contains, in the order of `PageText.builtInLanguages`. A test checks that they are
  /// complete.
  static let builtIn: [PageCatalogue] = [
    PageCatalogue(language: "en", file: PackageResources.en_json),
    PageCatalogue(language: "de", file: PackageResources.de_json),
  ]

  /// The texts for programs, and for keys that a language lacks.
  static let english = builtIn[0]

  /// Reads a file of the program.
  private init(language: String, file: [UInt8]) {
    self.init(language: language, texts: JSONValue.members(of: file)?.compactMapValues(\.text) ?? [:])
  }

  /// The keys of the texts.
  var keys: Set<String> { Set(texts.keys) }

  /// Returns the catalogues of the program with the texts of the operator.
  static func all(with additions: [PageTexts]) -> [PageCatalogue] {
    var catalogues = builtIn
    for addition in additions {
      if let index = catalogues.firstIndex(where: { $0.language.lowercased() == addition.language.lowercased() }) {
        let merged = catalogues[index].texts.merging(addition.texts) { _, new in new }
        catalogues[index] = PageCatalogue(language: catalogues[index].language, texts: merged)
      } else {
        catalogues.append(PageCatalogue(language: addition.language, texts: addition.texts))
      }
    }
    return catalogues
  }

  /// Returns a text with its placeholders.
  func text(_ key: PageText) -> String { texts[key.rawValue] ?? "" }

  /// Returns the description of a scope; `nil` if the language has none.
  func description(ofScope scope: String) -> String? { texts[PageText.scopePrefix + scope] }

  /// The value of the attribute `dir`: `rtl` for languages that are written from right to left.
  var direction: String {
    let primary = language.prefix { $0 != "-" }.lowercased()
    return ["ar", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"].contains(primary) ? "rtl" : "ltr"
  }
}

extension PageCatalogue {
  /// Returns the index of the language that a browser prefers; `nil` if it accepts none of them.
  ///
  /// Grammar (RFC 9110, section 12.5.4): `Accept-Language = #( language-range [ weight ] )`. The ranges are looked up in
  /// the order of their weights, each first completely and then with fewer subtags (RFC 4647, section 3.4). A range also
  /// finds a language with more subtags, because a user who reads `pt` can read `pt-BR`. At most 20 ranges are read.
  static func preferred(_ acceptLanguage: String, among languages: [String]) -> Int? {
    var ranges: [(tag: String, weight: Int)] = []
    var excluded: Set<String> = []
    for element in acceptLanguage.lowercased().split(separator: ",").prefix(20) {
      let parts = element.filter { $0 != " " && $0 != "\t" }.split(separator: ";")
      guard let tag = parts.first else { continue }
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
