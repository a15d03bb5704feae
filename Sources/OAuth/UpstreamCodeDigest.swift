import Cryptography

/// An identifier of an authorization code or a device code of the upstream: the first 128 bits of its SHA-256 digest. The digest does not reveal the code,
/// unless the code is so short that it can be guessed.
///
/// The digest covers the code alone. If it also covered the upstream client id, one code would have a different
/// identifier for each client id. Two sign-ins of clients with different ids could then both use the code, because some
/// servers do not check to which client they issued a code.
public struct UpstreamCodeDigest: Hashable, Sendable {
  /// The first 16 bytes of the digest.
  public let bytes: [UInt8]

  /// Wraps a digest; `nil` if there are not exactly 16 bytes.
  public init?(bytes: [UInt8]) {
    guard bytes.count == TransactionID.byteCount else { return nil }
    self.bytes = bytes
  }

  /// Computes the identifier of a code.
  public init(of code: Secret) {
    let text = code.reveal()
    var digest = sha256(text.utf8.span)
    digest.removeLast(digest.count - TransactionID.byteCount)
    bytes = digest
  }
}

extension UpstreamDeviceCode {
  /// The identifier of the device code.
  public var digest: UpstreamCodeDigest { UpstreamCodeDigest(of: code) }
}

extension IssuedCode {
  /// The identifier of the upstream code.
  public var digest: UpstreamCodeDigest { UpstreamCodeDigest(of: upstreamCode) }
}
