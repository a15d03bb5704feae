internal import ByteText
import Cryptography

/// An identifier of an upstream code: the first 128 bits of a SHA-256 digest, from which the code cannot be recovered.
///
/// The digest also covers the upstream client id, because codes of two clients can be equal.
public struct UpstreamCodeDigest: Hashable, Sendable {
  /// The first 16 bytes of the digest.
  public let bytes: [UInt8]

  /// Computes the identifier of a code.
  ///
  /// - Parameters:
  ///   - code: The upstream code.
  ///   - upstreamClientID: The client to which the upstream issued it.
  public init(of code: Secret, issuedTo upstreamClientID: ClientID) {
    let id = upstreamClientID.rawValue
    let code = code.reveal()
    var text: [UInt8] = []
    text.reserveCapacity(4 + id.utf8.count + code.utf8.count)
    // The length of the id is in front of it, so that different pairs of id and code give different texts. The length
    // takes only four bytes. So with usual ids and codes the text has at most 55 bytes, which SHA-256 hashes as a
    // single block.
    var length = UInt32(id.utf8.count)
    for _ in 0..<4 {
      text.append(UInt8(truncatingIfNeeded: length))
      length >>= 8
    }
    text.append(id)
    text.append(code)
    defer { wipe(&text) }
    bytes = Array(sha256(text).prefix(TransactionID.byteCount))
  }
}

extension IssuedCode {
  /// The identifier of the upstream code.
  public var digest: UpstreamCodeDigest {
    UpstreamCodeDigest(of: upstreamCode, issuedTo: binding.client.upstreamClientID)
  }
}
