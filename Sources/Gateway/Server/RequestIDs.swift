import Cryptography

/// Makes the ids by which the lines of the decision log about one request find each other.
///
/// An id is a keyed hash of the number of the request, so a request without a line costs one addition, and an id does not
/// show how many requests there were. It identifies and protects nothing, so a digest of OpenSSL would be wasted on it.
struct RequestIDs: Sendable {
  private static let secretLength = 16

  private let secret = randomBytes(RequestIDs.secretLength)

  /// Returns the id of a request: 128 bits in base64url.
  ///
  /// - Parameter number: Its number among the requests of the worker.
  func id(worker: Int, number: UInt64) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(16)
    for half in 0..<2 {
      // The standard library keys each process's hashes at random unless the environment forbids it; the secret does always.
      var hasher = Hasher()
      hasher.combine(secret)
      hasher.combine(half)
      hasher.combine(worker)
      hasher.combine(number)
      let hash = UInt64(UInt(bitPattern: hasher.finalize()))
      for index in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: hash &>> UInt64(index &* 8))) }
    }
    return Base64URL.encode(bytes)
  }
}
