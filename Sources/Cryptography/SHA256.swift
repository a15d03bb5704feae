internal import COpenSSL
internal import Synchronization

/// Returns the SHA-256 digest of `bytes` (FIPS 180-4): 32 bytes.
public func sha256(_ bytes: [UInt8]) -> [UInt8] { sha256(bytes.span) }

/// Returns the SHA-256 digest of `bytes` (FIPS 180-4): 32 bytes.
public func sha256(_ bytes: Span<UInt8>) -> [UInt8] {
  // The output has room for the 32 bytes that SHA-256 writes. OpenSSL keeps no pointer after the call.
  let digest = unsafe bytes.withUnsafeBufferPointer { bytes in
    unsafe [UInt8](filling: 32) { output, count in
      guard let context = unsafe SHA256Context.take() else { return }
      defer { unsafe SHA256Context.giveBack(context) }
      var length: UInt32 = 0
      guard unsafe EVP_DigestInit_ex2(context, Algorithms.sha256, nil) == 1,
        unsafe EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1,
        unsafe EVP_DigestFinal_ex(context, output.baseAddress, &length) == 1
      else { return }
      count = Int(length)
    }
  }
  precondition(digest.count == 32, "SHA-256 failed: out of memory")
  return digest
}

/// A spare OpenSSL context, which the next call of `sha256` reuses. Creating and freeing a context would take as long
/// as hashing an authorization code.
///
/// While the spare context is in use, other callers create their own contexts. After use, a context contains the last
/// digest, but no part of the text.
private enum SHA256Context {
  /// The address of the spare context. It is 0 before the first use and while the context is in use.
  private static let spare = Atomic<UInt>(0)

  static func take() -> OpaquePointer? {
    // Only `giveBack` stores an address, and the exchange returns each stored address to only one caller.
    if let context = unsafe OpaquePointer(bitPattern: spare.exchange(0, ordering: .acquiring)) { return unsafe context }
    return unsafe EVP_MD_CTX_new()
  }

  static func giveBack(_ context: OpaquePointer) {
    let address = UInt(bitPattern: context)
    let (isKept, _) = spare.compareExchange(expected: 0, desired: address, ordering: .releasing)
    // If another spare context is already stored, `context` is freed. The caller has passed the only reference to it.
    if !isKept { unsafe EVP_MD_CTX_free(context) }
  }
}
