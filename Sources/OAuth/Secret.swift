/// A text that must never be shown: a client secret, a code, a token or a verifier.
///
/// It appears as `***` if it is interpolated, dumped or reflected. Code that needs the text calls `reveal()`, so that
/// every use is easy to find. Secrets are compared with `constantTimeEqual` of `Cryptography`.
public struct Secret: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  private let text: String

  /// Wraps a text.
  public init(_ text: String) {
    self.text = text
  }

  /// Returns the text, for sending and for cryptography only.
  public func reveal() -> String { text }

  /// True if the text is empty.
  public var isEmpty: Bool { text.isEmpty }
  /// Always `***`.
  public var description: String { "***" }
  /// Always `***`.
  public var debugDescription: String { "***" }
  /// A mirror without children, so that `dump` does not show the text.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
