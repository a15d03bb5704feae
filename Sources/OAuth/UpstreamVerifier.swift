internal import ByteText
import Cryptography

/// The code verifier with which the gateway proves to the upstream that it began a transaction (RFC 7636, section 4.1).
///
/// It binds the upstream code to the transaction that requested it. A code from another transaction cannot be redeemed,
/// even if a browser revealed it. The verifier has 256 random bits. It is only sent to the upstream, and is in the
/// sealed state and the sealed code.
public struct UpstreamVerifier: Equatable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The length in bytes, before encoding.
  public static let byteCount = 32

  /// The random bytes that are encoded as the verifier.
  public let bytes: [UInt8]

  /// Wraps random bytes; `nil` if there are not exactly 32.
  ///
  /// - Parameter bytes: New random bytes.
  public init?(bytes: [UInt8]) {
    guard bytes.count == UpstreamVerifier.byteCount else { return nil }
    self.bytes = bytes
  }

  /// The value of `code_verifier`, 43 characters.
  public var secret: Secret { Secret(Base64URL.encode(bytes)) }

  /// The challenge in the gateway's authorization request. Its method is always S256, because a plain challenge would
  /// reveal the verifier to the browser.
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
