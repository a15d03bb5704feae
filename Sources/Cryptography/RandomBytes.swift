internal import COpenSSL

/// Returns `count` bytes of OpenSSL's random generator, which the kernel seeds.
///
/// The process ends if the generator fails, because nothing can be done safely without it.
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
