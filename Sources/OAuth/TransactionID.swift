import Cryptography

/// What joins the legs of one flow: the authorization request, its completion and the redemption of its code.
///
/// 128 random bits. It is no secret: it names the flow in logs and claims the single use of the flow's code.
public struct TransactionID: Hashable, Sendable, CustomStringConvertible {
  public static let byteCount = 16

  public let bytes: [UInt8]

  /// `nil` unless there are exactly 16 bytes.
  public init?(bytes: [UInt8]) {
    guard bytes.count == TransactionID.byteCount else { return nil }
    self.bytes = bytes
  }

  /// The id of the login that an upstream code belongs to.
  public init(_ code: UpstreamCodeDigest) {
    bytes = code.bytes
  }

  /// Lower-case hexadecimal.
  public var description: String {
    Hex.encode(bytes)
  }
}
