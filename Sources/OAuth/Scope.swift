internal import ByteText

/// A list of scope tokens (RFC 6749, section 3.3), kept as written but for spare spaces.
///
///     scope       = scope-token *( SP scope-token )
///     scope-token = 1*( %x21 / %x23-5B / %x5D-7E )
public struct Scope: Hashable, Sendable, CustomStringConvertible {
  /// The tokens in their order, with repetitions and with one space between two.
  public let text: String

  /// The maximum number of bytes of a scope, and of its tokens. Servers have some hundred tokens at most.
  static let (maximumLength, maximumTokens) = (8_192, 512)

  /// Parses a scope; `nil` if the text does not match the grammar or is too long.
  ///
  /// Spaces at the start, at the end and in a row are accepted, although the grammar has none: apps send them, and no server
  /// reads another scope.
  public init?(parsing text: String) {
    let bytes = text.utf8.span
    guard bytes.count <= Scope.maximumLength else { return nil }
    var tokens = 0
    var hasSpareSpaces = false
    var isInToken = false
    var index = 0
    while index < bytes.count {
      if bytes[index] == .space {
        hasSpareSpaces = hasSpareSpaces || !isInToken
        isInToken = false
      } else {
        guard Scope.isTokenByte(bytes[index]) else { return nil }
        if !isInToken { tokens += 1 }
        isInToken = true
      }
      index &+= 1
    }
    guard tokens > 0, tokens <= Scope.maximumTokens else { return nil }
    self.text = hasSpareSpaces || !isInToken ? Scope.joined(text) : text
  }

  private static func joined(_ text: String) -> String {
    text.utf8.split(separator: .space).map { Substring($0) }.joined(separator: " ")
  }

  /// The tokens, without repetitions. Their order has no meaning.
  public var tokens: Set<Substring> { Set(list) }

  /// The tokens in their order. The text is split as bytes, because iterating over `Character`s costs ten times as much.
  public var list: [Substring] { text.utf8.split(separator: .space).map { Substring($0) } }

  /// True if `other` contains every token of this scope.
  public func isWithin(_ other: Scope) -> Bool { text == other.text || tokens.isSubset(of: other.tokens) }

  /// The same as ``text``.
  public var description: String { text }

  private static func isTokenByte(_ byte: UInt8) -> Bool {
    byte > 0x20 && byte < 0x7f && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }
}
