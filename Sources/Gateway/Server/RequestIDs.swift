import Cryptography

/// Makes the ids by which the lines of the decision log about one request find each other.
///
/// An id is a digest of a secret of this process and of the number of the request. So a request without a line costs one
/// addition, and an id does not show how many requests there were.
struct RequestIDs: Sendable {
  private static let secretLength = 32
  /// 128 bits.
  private static let idLength = 16

  private let secret = randomBytes(RequestIDs.secretLength)

  /// Returns the id of a request.
  ///
  /// - Parameter number: Its number among the requests of the worker.
  func id(worker: Int, number: UInt64) -> String {
    var input = secret
    for value in [UInt64(worker), number] {
      for shift in stride(from: 56, through: 0, by: -8) {
        input.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
      }
    }
    return Base64URL.encode(Array(sha256(input).prefix(RequestIDs.idLength)))
  }
}
