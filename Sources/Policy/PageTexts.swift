/// The texts of the gateway's pages in one language, from a file.
public struct PageTexts: Sendable, Equatable {
  /// The tag of the language (RFC 5646), such as `fr` or `pt-BR`.
  public var language: String
  /// The texts by their keys. If the program contains the language, its own texts are used for the other keys.
  public var texts: [String: String]

  /// Creates the texts of a language.
  public init(language: String, texts: [String: String]) {
    self.language = language
    self.texts = texts
  }
}

extension PageText {
  /// The beginning of the key of a scope's description.
  public static let scopePrefix = "scope."
  /// The languages that the program contains, as tags of RFC 5646. The first is the default.
  public static let builtInLanguages = ["en", "de"]
  /// The greatest length of a text, in bytes.
  public static let maximumLength = 1_000
  /// The greatest number of texts in a file. A policy can describe a few hundred scopes.
  public static let maximumCount = 1_000

  /// A problem of a text in a file.
  public enum Problem: Error, Equatable {
    /// No text has the key.
    case unknownKey
    /// The text has no visible character.
    case empty
    /// The text is longer than ``maximumLength``.
    case tooLong
    /// The text has a character that is invisible, or that changes the direction of the text.
    case invisibleCharacter
    /// The text lacks the placeholder, or has it more than once.
    case missingPlaceholder(String)
    /// The text has no quotation marks around the name that an app has given itself.
    case unquotedName
    /// The text has a brace that is not part of a placeholder of its key.
    case unknownPlaceholder
  }

  /// Returns the problem of the text with a key; `nil` if it has none.
  public static func problem(of text: String, key: String) -> Problem? {
    let known = PageText(rawValue: key)
    let isScope = key.hasPrefix(scopePrefix) && key.utf8.count > scopePrefix.utf8.count
    guard known != nil || isScope else { return .unknownKey }
    guard text.contains(where: { !$0.isWhitespace }) else { return .empty }
    guard text.utf8.count <= maximumLength else { return .tooLong }
    let hasInvisible = text.unicodeScalars.contains { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: true
      default: false
      }
    }
    guard !hasInvisible else { return .invisibleCharacter }
    var rest = text
    for placeholder in known?.placeholders ?? [] {
      let mark = "{\(placeholder)}"
      guard let range = rest.firstRange(of: mark) else { return .missingPlaceholder(placeholder) }
      if placeholder == "name", !isQuoted(range, in: rest) { return .unquotedName }
      rest.removeSubrange(range)
      guard !rest.contains(mark) else { return .missingPlaceholder(placeholder) }
    }
    return rest.contains { $0 == "{" || $0 == "}" } ? .unknownPlaceholder : nil
  }

  /// Returns true if quotation marks are in front of the range and behind it, if need be with a space in between.
  private static func isQuoted(_ range: Range<String.Index>, in text: String) -> Bool {
    let before = text[..<range.lowerBound].last { !$0.isWhitespace }
    let after = text[range.upperBound...].first { !$0.isWhitespace }
    return [before, after].allSatisfy { $0?.unicodeScalars.first?.properties.isQuotationMark == true }
  }

  /// Returns true if `tag` has the form of a language tag of RFC 5646: a language, and further subtags.
  public static func isLanguageTag(_ tag: String) -> Bool {
    let subtags = tag.split(separator: "-", omittingEmptySubsequences: false)
    guard let first = subtags.first, (2...3).contains(first.count), first.allSatisfy({ $0.isASCII && $0.isLetter }),
      tag.utf8.count <= 35
    else { return false }
    return subtags.dropFirst().allSatisfy { subtag in
      (1...8).contains(subtag.count) && subtag.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }
  }
}
