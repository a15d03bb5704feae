extension [UInt8] {
  /// Creates an array of the bytes that `fill` writes. `fill` gets a buffer of at least `capacity` bytes and sets
  /// `count` to the number of bytes that it has written.
  ///
  /// `init(unsafeUninitializedCapacity:initializingWith:)` of the standard library looks up the type of the array on
  /// each call, which takes 350 instructions.
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
      // Sound if `fill` stays within the buffer and counts only bytes that it has written. Each caller states why its
      // `fill` does so.
      unsafe output.withUnsafeMutableBufferPointer { unsafe fill($0, &$1) }
    }
  }
}
