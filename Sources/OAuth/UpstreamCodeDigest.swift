internal import Bytes
import Cryptography

/// A name for an upstream code from which the code cannot be read: the first 128 bits of a SHA-256 digest.
///
/// It covers the upstream client id too, because two clients may have equal codes.
public struct UpstreamCodeDigest: Hashable, Sendable {
  public let bytes: [UInt8]

  public init(of code: Secret, issuedTo upstreamClientID: ClientID) {
    let id = upstreamClientID.rawValue
    let code = code.reveal()
    var text: [UInt8] = []
    text.reserveCapacity(4 + id.utf8.count + code.utf8.count)
    // The length of the id comes first, so that no other pair of id and code gives the same text. Four bytes of length
    // and usual ids and codes fit one block of SHA-256 (55 bytes).
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
  public var digest: UpstreamCodeDigest { UpstreamCodeDigest(of: upstreamCode, issuedTo: upstreamClientID) }
}
