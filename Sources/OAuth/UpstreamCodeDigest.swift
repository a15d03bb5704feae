import Cryptography

/// A name for an upstream code from which the code cannot be read: the first 128 bits of a SHA-256 digest.
///
/// It covers the upstream client id too, because two clients may have equal codes.
public struct UpstreamCodeDigest: Hashable, Sendable {
  public let bytes: [UInt8]

  public init(of code: Secret, issuedTo upstreamClientID: ClientID) {
    // A digest has a fixed length, so no client id can run into the code.
    var text = sha256(Array(upstreamClientID.rawValue.utf8))
    text += Array(code.reveal().utf8)
    defer { wipe(&text) }
    bytes = Array(sha256(text).prefix(TransactionID.byteCount))
  }
}

extension IssuedCode {
  public var digest: UpstreamCodeDigest { UpstreamCodeDigest(of: upstreamCode, issuedTo: upstreamClientID) }
}
