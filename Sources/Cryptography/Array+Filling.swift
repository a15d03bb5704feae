extension [UInt8] {
  /// Creates an array from bytes that `fill` writes. `fill` gets a buffer of at least `capacity` bytes and sets `count`
  /// to the number of bytes that it has written.
  ///
  /// The initialiser of the standard library looks up the type of the array on each call. This costs 350 instructions,
  /// a third of the overhead of hashing a short text.
  @inline(__always)
  init(filling capacity: Int, _ fill: (_ output: UnsafeMutableBufferPointer<UInt8>, _ count: inout Int) -> Void) {
    self.init()
    unsafe append(filling: capacity, fill)
  }

  /// Appends bytes that `fill` writes, as the initialiser does.
  @inline(__always)
  mutating func append(
    filling capacity: Int, _ fill: (_ output: UnsafeMutableBufferPointer<UInt8>, _ count: inout Int) -> Void
  ) {
    append(addingCapacity: capacity) { output in
      // Sound if `fill` stays within the buffer and counts only bytes that it has written; each caller gives the
      // reason.
      unsafe output.withUnsafeMutableBufferPointer { unsafe fill($0, &$1) }
    }
  }
}
