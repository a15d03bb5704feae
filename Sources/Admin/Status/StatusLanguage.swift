import JSON
import Markup
import Proxy

/// A language of the status page.
///
/// The file of a language in `Texts` translates each ``StatusWord``. A test finds texts that are missing. Error messages,
/// warnings and changes of the policy are English in every language, because they are those of the log and of `check`.
struct StatusLanguage: Sendable {
  /// The tag of the language (RFC 5646).
  let tag: String
  /// The translations, by the English text.
  private let translations: [String: String]

  static let english = StatusLanguage(tag: "en", translations: [:])
  static let german = StatusLanguage(tag: "de", file: PackageResources.de_json)
  static let all = [english, german]

  private init(tag: String, translations: [String: String]) {
    self.tag = tag
    self.translations = translations
  }

  private init(tag: String, file: [UInt8]) {
    self.init(tag: tag, translations: JSONValue.members(of: file)?.compactMapValues(\.text) ?? [:])
  }

  /// Returns the language that a browser prefers; English if it prefers no other.
  ///
  /// - Parameter acceptLanguage: The text of the `Accept-Language` fields.
  static func preferred(_ acceptLanguage: String) -> StatusLanguage {
    AcceptLanguage.preferred(acceptLanguage, among: all.map(\.tag)).map { all[$0] } ?? english
  }

  /// The English texts that the file of the language translates.
  var keys: Set<String> { Set(translations.keys) }

  /// Returns a text with its placeholders.
  func template(_ word: StatusWord) -> String { translations[word.rawValue] ?? word.rawValue }

  /// Returns a text, with markup in place of its placeholders.
  func html(_ word: StatusWord, _ values: [String: HTML] = [:]) -> HTML {
    HTML(template: template(word), values)
  }

  /// Returns a text, with other texts in place of its placeholders.
  func text(_ word: StatusWord, _ values: [String: String] = [:]) -> String {
    values.reduce(template(word)) { $0.replacing("{\($1.key)}", with: $1.value) }
  }
}
