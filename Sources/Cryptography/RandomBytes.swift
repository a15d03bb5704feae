internal import COpenSSL

/// Returns `count` bytes from OpenSSL's random generator, which is seeded by the kernel.
///
/// The process ends if the generator fails, because no secret can be created safely without it.
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
