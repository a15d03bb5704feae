internal import COpenSSL

/// `count` bytes from the library's generator, seeded by the kernel.
///
/// A generator that fails leaves nothing safe to do, so the process ends.
public func randomBytes(_ count: Int) -> [UInt8] {
  CryptographyLibrary.start()
  let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { output, written in
    // The buffer has room for `count` bytes.
    guard unsafe RAND_bytes(output.baseAddress, Int32(count)) == 1 else { return }
    written = count
  }
  precondition(bytes.count == count, "the random generator failed")
  return bytes
}
