import Cryptography

/// The identifier of a flow (its authorization request, completion and redemption) or of a login.
///
/// 128 bits: random for a flow, and a digest of the upstream code for a login, which is the family of the refresh
/// tokens that follow from the code. It is not secret: it appears in logs, and the store claims the single use of a
/// code under it.
public struct TransactionID: Hashable, Sendable, CustomStringConvertible {
  /// The length of an identifier in bytes.
  public static let byteCount = 16

  /// The identifier, ``byteCount`` bytes.
  public let bytes: [UInt8]

  /// Wraps an identifier; `nil` unless there are exactly 16 bytes.
  public init?(bytes: [UInt8]) {
    guard bytes.count == TransactionID.byteCount else { return nil }
    self.bytes = bytes
  }

  /// Derives the identifier of the login to which an upstream code belongs.
  public init(_ code: UpstreamCodeDigest) {
    bytes = code.bytes
  }

  /// The identifier in lower-case hexadecimal.
  public var description: String {
    Hex.encode(bytes)
  }
}
