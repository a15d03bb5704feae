extension String {
  /// Creates a text of `count` bytes of UTF-8. `write` gets `count` zero bytes and overwrites them with the characters.
  ///
  /// `write` writes into the memory of the new text. The standard library has no safe function for this
  /// (docs/adr/0016), and creating the text from an array would cost one more allocation and copy.
  @inlinable
  public init(utf8Count count: Int, _ write: (inout MutableSpan<UInt8>) -> Void) {
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
