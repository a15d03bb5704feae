/// A list of scope tokens (RFC 6749, section 3.3), kept as written.
///
///     scope       = scope-token *( SP scope-token )
///     scope-token = 1*( %x21 / %x23-5B / %x5D-7E )
public struct Scope: Hashable, Sendable, CustomStringConvertible {
  /// The scope as written, with its order and repetitions.
  public let text: String

  /// The maximum number of bytes of a scope, and of its tokens. Servers have some hundred tokens at most.
  static let (maximumLength, maximumTokens) = (8_192, 512)

  /// Parses a scope; `nil` if the text does not match the grammar or is too long.
  public init?(parsing text: String) {
    let bytes = text.utf8.span
    guard bytes.count <= Scope.maximumLength else { return nil }
    var spaces = 0
    // A scope contains single spaces, and only between two tokens.
    var expectsToken = true
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: " ") {
        spaces += 1
        guard !expectsToken, spaces < Scope.maximumTokens else { return nil }
        expectsToken = true
      } else {
        guard Scope.isTokenByte(bytes[index]) else { return nil }
        expectsToken = false
      }
      index &+= 1
    }
    guard !expectsToken else { return nil }
    self.text = text
  }

  /// The tokens, without repetitions. Their order has no meaning.
  public var tokens: Set<Substring> { Set(text.split(separator: " ")) }

  /// True if `other` contains every token of this scope.
  public func isWithin(_ other: Scope) -> Bool { text == other.text || tokens.isSubset(of: other.tokens) }

  /// The scope as written.
  public var description: String { text }

  private static func isTokenByte(_ byte: UInt8) -> Bool {
    byte > 0x20 && byte < 0x7f && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }
}
