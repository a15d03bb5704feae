internal import ByteText
import Cryptography

/// The identifier of a transaction (an authorization request with its completion and redemption) or of a login.
///
/// It has 128 bits. They are random for a transaction. For a login, they are a digest of the upstream code, which is
/// also the identifier of the family of refresh tokens that begins with the code. The identifier is not secret. It
/// appears in logs, and the store records the single use of a code under it.
public struct TransactionID: Hashable, Sendable, CustomStringConvertible {
  /// The length of an identifier in bytes.
  public static let byteCount = 16

  /// The identifier, ``byteCount`` bytes.
  public let bytes: [UInt8]

  /// Wraps an identifier; `nil` if there are not exactly 16 bytes.
  public init?(bytes: [UInt8]) {
    guard bytes.count == TransactionID.byteCount else { return nil }
    self.bytes = bytes
  }

  /// Creates the identifier of the login that begins with an upstream code.
  public init(_ code: UpstreamCodeDigest) {
    bytes = code.bytes
  }

  /// The identifier in lower-case hexadecimal.
  public var description: String {
    Hex.encode(bytes)
  }
}
