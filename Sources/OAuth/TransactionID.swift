internal import ByteText
import Cryptography

/// The identifier of a transaction (an authorization request with its completion and redemption), of a login, or of an
/// upstream code in the store.
///
/// An identifier has 128 bits. For a transaction, they are random. For a login, they are derived from its transaction
/// and its upstream code or, if the login is older than the gateway, from the first refresh token that the client
/// presented. The identifier of a login also identifies its family of refresh tokens. For an upstream code, they are
/// the digest of the code alone. No identifier is secret; identifiers appear in logs.
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

  /// Creates the identifier under which the store records the owner and the single use of an upstream code.
  public init(ofClaimOn code: UpstreamCodeDigest) {
    bytes = code.bytes
  }

  /// Creates the identifier of the login that begins with an upstream code in a transaction.
  ///
  /// The identifier depends on the code and on the random id of the transaction. So two logins have different
  /// identifiers even if the upstream issues the same short code again, and two codes of one transaction begin
  /// different logins. The first half is that of the transaction, so that both have the same ``flow``.
  public init(ofLoginWith code: UpstreamCodeDigest, in transaction: TransactionID) {
    var bytes = transaction.bytes
    for index in TransactionID.byteCount / 2..<TransactionID.byteCount { bytes[index] ^= code.bytes[index] }
    self.bytes = bytes
  }

  /// The id that a transaction and the logins that begin in it have in common: the first half, in lower-case
  /// hexadecimal.
  public var flow: String { Hex.encode(bytes.span.extracting(0..<TransactionID.byteCount / 2)) }

  /// The identifier in lower-case hexadecimal.
  public var description: String {
    Hex.encode(bytes)
  }
}
