import Cryptography

/// Makes the ids that link the lines of the decision log about one request.
///
/// An id is a keyed hash of the number of the request: a request without a log line costs one addition, and an id does
/// not reveal the number of requests. It identifies requests but protects nothing, so a cryptographic digest is not
/// needed.
struct RequestIDs: Sendable {
  private static let secretLength = 16

  private let secret = randomBytes(RequestIDs.secretLength)

  /// Returns the id of a request: 128 bits in base64url.
  ///
  /// - Parameter number: The number of the request in its worker.
  func id(worker: Int, number: UInt64) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(16)
    for half in 0..<2 {
      // The standard library seeds hashes at random per process unless the environment disables it; the secret always
      // does.
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
