internal import ByteText
import Cryptography

/// Creates request ids. All lines of the decision log about the same request have the same id.
///
/// An id is a keyed hash of the worker and of the sequence number of the request in that worker, so it does not reveal
/// the number of requests. An id is computed only when a line is logged. Every other request costs only the increment
/// of the sequence number. The hash need not be cryptographic, because no protection depends on the ids.
struct RequestIDGenerator: Sendable {
  private static let secretLength = 16

  private let secret = randomBytes(RequestIDGenerator.secretLength)

  /// Returns the id of a request: 128 bits in base64url.
  ///
  /// - Parameters:
  ///   - worker: The index of the worker.
  ///   - number: The sequence number of the request in its worker.
  func id(worker: Int, number: UInt64) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(16)
    // The standard library seeds `Hasher` at random in each process, unless the environment variable
    // `SWIFT_DETERMINISTIC_HASHING` is set. With the secret, the ids are unpredictable in either case.
    var keyed = Hasher()
    keyed.combine(secret)
    keyed.combine(worker)
    keyed.combine(number)
    for half in 0..<2 {
      var hasher = keyed
      hasher.combine(half)
      let hash = UInt64(UInt(bitPattern: hasher.finalize()))
      for index in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: hash &>> UInt64(index &* 8))) }
    }
    return Base64URL.encode(bytes)
  }
}
