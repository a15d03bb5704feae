internal import ByteText

/// The metadata of a client that is not listed in the policy (RFC 7591, section 2): the members that the rules use.
///
/// The values come from the client itself. The parser has validated their form; the policy decides which of them the
/// client may use (`UnlistedClientRules`).
public struct ClientMetadata: Hashable, Sendable {
  /// The kind of application (OpenID Connect Dynamic Client Registration 1.0, section 2).
  public enum ApplicationType: String, Sendable, CaseIterable {
    case native
    case web
  }

  /// The maximum number of redirect URIs. The clients that users have today register at most four.
  public static let maximumRedirectURIs = 8
  /// The maximum length of a name in characters, so that it fits on the consent page.
  public static let maximumNameLength = 64
  /// The maximum number of marks, such as accents, that follow each other.
  private static let maximumMarks = 3
  /// Characters without a glyph that Unicode counts as letters or symbols: the Braille blank, a musical null notehead,
  /// Egyptian blanks, and the place of an embedded object.
  private static let blanks: Set<Unicode.Scalar> = ["\u{2800}", "\u{1d159}", "\u{13441}", "\u{13442}", "\u{fffc}"]

  /// The name by which the client calls itself; `nil` if it has none.
  public var name: String?
  /// The kind of application.
  public var applicationType: ApplicationType
  /// The redirect URIs, without repetitions.
  public var redirectURIs: [RedirectURI]
  /// Outlines of further URIs in a client document: its `client_uri`, and the redirect URIs that the present sign-in does
  /// not use. Only a deny-list reads them; no request may use them.
  public var relatedURIs: [RedirectURI]
  /// The scope of a request without `scope`; `nil` for the one that the policy permits.
  public var scope: Scope?
  /// True if the client may use refresh tokens.
  public var usesRefreshTokens: Bool

  /// Creates metadata.
  public init(
    name: String? = nil, applicationType: ApplicationType, redirectURIs: [RedirectURI], relatedURIs: [RedirectURI] = [],
    scope: Scope? = nil, usesRefreshTokens: Bool = true
  ) {
    self.name = name
    self.applicationType = applicationType
    self.redirectURIs = redirectURIs
    self.relatedURIs = relatedURIs
    self.scope = scope
    self.usesRefreshTokens = usesRefreshTokens
  }

  /// True if a page may show the text as the name of a client: it is not empty, not too long, and has no characters that
  /// are invisible or change the direction of the text, with which a name could look like another text. A name neither
  /// begins nor ends with a space. It has at most three marks on a letter, because more would cover the text around it. It
  /// has no quotation marks, because a page puts it between such marks.
  public static func isDisplayable(_ name: String) -> Bool {
    guard !name.isEmpty, name.unicodeScalars.count <= maximumNameLength, name.utf8.count <= 4 * maximumNameLength else {
      return false
    }
    guard !name.hasPrefix(" "), !name.hasSuffix(" ") else { return false }
    var reader = NameReader()
    return name.unicodeScalars.allSatisfy { reader.accepts($0) }
  }

  /// Returns the part of a name that a page may show (``isDisplayable(_:)``): without quotation marks and characters that
  /// are not displayed, with one plain space in place of several and of other spaces, and not too long. Returns `nil` if
  /// nothing is left. A server may replace the values of a registration (RFC 7591, section 3.2.1).
  public static func displayable(_ name: String) -> String? {
    var reader = NameReader()
    var kept = ""
    var count = 0
    for scalar in name.unicodeScalars {
      let isSpace = scalar.properties.generalCategory == .spaceSeparator
      if isSpace, kept.isEmpty || kept.utf8.last == .space { continue }
      let scalar: Unicode.Scalar = isSpace ? " " : scalar
      var next = reader
      guard next.accepts(scalar) else { continue }
      reader = next
      kept.unicodeScalars.append(scalar)
      count += 1
      guard count <= maximumNameLength else { break }
    }
    if count > maximumNameLength { kept = String(kept.unicodeScalars.prefix(maximumNameLength - 1)) + "\u{2026}" }
    if kept.utf8.last == .space { kept.unicodeScalars.removeLast() }
    return isDisplayable(kept) ? kept : nil
  }

  /// Reads the characters of a name.
  private struct NameReader {
    /// The number of marks in a row. A name must not begin with a mark, which would be on the text before it.
    private var marks = maximumMarks
    private var followsApostrophe = false

    /// Returns true if a page may show the character behind those that were accepted.
    mutating func accepts(_ scalar: Unicode.Scalar) -> Bool {
      let category = scalar.properties.generalCategory
      switch category {
      case .nonspacingMark, .enclosingMark: marks += 1
      default: marks = 0
      }
      guard marks <= maximumMarks else { return false }
      let isApostrophe = QuotationMarks.isApostrophe(scalar)
      if isApostrophe ? followsApostrophe : QuotationMarks.contains(scalar) { return false }
      followsApostrophe = isApostrophe
      guard !scalar.properties.isDefaultIgnorableCodePoint, !blanks.contains(scalar) else { return false }
      return switch category {
      case .spaceSeparator: scalar == " "
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
      default: true
      }
    }
  }
}
