import JSON
import Policy

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
