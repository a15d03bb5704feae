import Cryptography

/// The code verifier by which the gateway proves to the upstream that it began a transaction (RFC 7636, section 4.1).
///
/// It binds the upstream code to the transaction that requested it: a code that was taken from another transaction is
/// useless, even if the browser could see it. 256 random bits; sealed into the state and the code, and shown to no
/// client.
public struct UpstreamVerifier: Equatable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The length in bytes before encoding.
  public static let byteCount = 32

  /// The random bytes from which the verifier is encoded.
  public let bytes: [UInt8]

  /// Wraps random bytes; `nil` unless there are exactly 32.
  ///
  /// - Parameter bytes: Fresh random bytes.
  public init?(bytes: [UInt8]) {
    guard bytes.count == UpstreamVerifier.byteCount else { return nil }
    self.bytes = bytes
  }

  /// The value of `code_verifier`: 43 characters.
  public var secret: Secret { Secret(Base64URL.encode(bytes)) }

  /// The challenge that the authorization request carries. Always S256: a plain challenge would show the verifier to
  /// the browser.
  public var challenge: CodeChallenge {
    CodeChallenge(text: Base64URL.encode(sha256(Array(secret.reveal().utf8))), method: .s256)
  }

  /// Always `***`.
  public var description: String { "***" }
  /// Always `***`.
  public var debugDescription: String { "***" }
  /// A mirror without children, so that `dump` does not show the bytes.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
