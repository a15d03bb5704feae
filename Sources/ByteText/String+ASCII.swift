extension String {
  /// Creates a text of `count` ASCII characters, which `write` stores in zero bytes.
  ///
  /// It writes directly into the memory of the text. The standard library has no safe function for this (docs/adr/0016),
  /// and a text that is made from an array costs an allocation and a copy more.
  @inlinable
  init(asciiCount count: Int, _ write: (inout MutableSpan<UInt8>) -> Void) {
    // The buffer may be longer than requested. Its first `count` bytes are initialised before the span reads them.
    unsafe self.init(unsafeUninitializedCapacity: count) { buffer in
      let text = unsafe UnsafeMutableBufferPointer(rebasing: buffer.prefix(count))
      unsafe text.initialize(repeating: 0)
      var output = unsafe MutableSpan(_unsafeElements: text)
      write(&output)
      return count
    }
  }
}
