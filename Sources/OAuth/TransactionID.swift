internal import ByteText
import Cryptography

/// The identifier of a transaction (an authorization request with its completion and redemption) or of a login.
///
/// It has 128 bits. For a transaction, they are random. For a login, they are a digest of the upstream code or, if the
/// login is older than the gateway, of the first refresh token that the client presented. The identifier of a login
/// also identifies its family of refresh tokens, and the store records the single use of its code under it. No
/// identifier is secret; identifiers appear in logs.
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
