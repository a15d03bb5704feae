import Cryptography

/// The verifier that the gateway itself proves to the upstream, for one transaction (RFC 7636, section 4.1).
///
/// It binds the upstream's code to the transaction that asked for it: a code that was taken out of another transaction is
/// of no use, also where browsers see it. 256 random bits; sealed into the state and the code, and shown to no client.
public struct UpstreamVerifier: Equatable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  public static let byteCount = 32

  public let bytes: [UInt8]

  /// `nil` unless there are exactly 32 bytes.
  ///
  /// - Parameter bytes: Fresh random bits.
  public init?(bytes: [UInt8]) {
    guard bytes.count == UpstreamVerifier.byteCount else { return nil }
    self.bytes = bytes
  }

  /// The value of `code_verifier`: 43 characters.
  public var secret: Secret { Secret(Base64URL.encode(bytes)) }

  /// What the authorization request carries. Always S256: a plain challenge would show the verifier to the browser.
  public var challenge: CodeChallenge {
    CodeChallenge(text: Base64URL.encode(sha256(Array(secret.reveal().utf8))), method: .s256)
  }

  public var description: String { "***" }
  public var debugDescription: String { "***" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
