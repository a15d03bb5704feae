internal import ByteText

/// Creates request ids. All lines of the decision log about the same request have the same id.
///
/// An id is a keyed hash of the worker and of the sequence number of the request in that worker, so it does not reveal
/// the number of requests. An id is computed only when a line is logged. Every other request costs only the increment
/// of the sequence number. The hash need not be cryptographic, because no protection depends on the ids.
struct RequestIDGenerator: Sendable {
  /// Two random words.
  private let secret = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))

  /// Returns the id of a request: 127 bits in base64url. It begins with a letter, so that no command takes it for an
  /// option.
  ///
  /// - Parameters:
  ///   - worker: The index of the worker.
  ///   - number: The sequence number of the request in its worker.
  func id(worker: Int, number: UInt64) -> String {
    Base64URL.encode(words(0..<2, worker: worker, number: number, firstByteMask: 0x7f))
  }

  /// Returns the trace that begins with a request. Its ids do not reveal that of the request.
  func trace(worker: Int, number: UInt64) -> TraceContext {
    TraceContext(starting: words(2..<5, worker: worker, number: number))
  }

  /// Returns eight bytes for each number in `indices`; the first byte has only the bits of `firstByteMask`.
  private func words(_ indices: Range<Int>, worker: Int, number: UInt64, firstByteMask: UInt8 = 0xff) -> [UInt8] {
    var bytes: [UInt8] = []
    // The standard library seeds `Hasher` at random in each process, unless the environment variable
    // `SWIFT_DETERMINISTIC_HASHING` is set. With the secret, the ids are unpredictable in either case.
    var keyed = Hasher()
    keyed.combine(secret.0)
    keyed.combine(secret.1)
    keyed.combine(worker)
    keyed.combine(number)
    bytes.append(addingCapacity: 8 * indices.count) { output in
      var mask = ~UInt64(~firstByteMask)
      for index in indices {
        var hasher = keyed
        hasher.combine(index)
        let hash = UInt64(UInt(bitPattern: hasher.finalize())) & mask
        mask = .max
        for byte in 0..<8 { output.append(UInt8(truncatingIfNeeded: hash &>> UInt64(truncatingIfNeeded: byte &* 8))) }
      }
    }
    return bytes
  }
}
