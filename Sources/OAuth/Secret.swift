/// A text that must never be shown: a client secret, a code, a token, a verifier.
///
/// It prints as `***` wherever it is interpolated, dumped or reflected. Code that needs the text calls `reveal()`, so
/// that every use is easy to find. Compare secrets with `Cryptography.constantTimeEqual`.
public struct Secret: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  private let text: String

  /// Wraps a text.
  public init(_ text: String) {
    self.text = text
  }

  /// The text itself: only for the wire and for cryptography.
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
