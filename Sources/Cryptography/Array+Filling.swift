extension [UInt8] {
  /// Creates an array of the bytes that `fill` writes. `fill` gets a buffer of at least `capacity` bytes and sets
  /// `count` to the number of bytes that it has written.
  ///
  /// Faster than `init(unsafeUninitializedCapacity:initializingWith:)` of the standard library, which looks up the type
  /// of the array on each call (350 instructions).
  @inline(__always)
  init(filling capacity: Int, _ fill: (_ output: UnsafeMutableBufferPointer<UInt8>, _ count: inout Int) -> Void) {
    self.init()
    unsafe append(filling: capacity, fill)
  }

  /// Appends the bytes that `fill` writes. The parameters are those of the initialiser above.
  @inline(__always)
  mutating func append(
    filling capacity: Int, _ fill: (_ output: UnsafeMutableBufferPointer<UInt8>, _ count: inout Int) -> Void
  ) {
    append(addingCapacity: capacity) { output in
      // Sound if `fill` writes only within the buffer, and sets `count` to no more than the number of bytes that it has
      // written. Each caller explains in a comment why this holds.
      unsafe output.withUnsafeMutableBufferPointer { unsafe fill($0, &$1) }
    }
  }
}
