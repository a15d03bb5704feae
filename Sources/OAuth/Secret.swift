/// Text that must never be shown: a client secret, a code, a token, a verifier.
///
/// It prints as `***` wherever it is interpolated, dumped or reflected. Whoever needs the text says so with `reveal()`,
/// which makes every use easy to find. Compare secrets with `Cryptography.constantTimeEqual`.
public struct Secret: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  private let text: String

  public init(_ text: String) {
    self.text = text
  }

  /// The text itself: only for the wire and for cryptography.
  public func reveal() -> String { text }

  public var isEmpty: Bool { text.isEmpty }
  public var description: String { "***" }
  public var debugDescription: String { "***" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
