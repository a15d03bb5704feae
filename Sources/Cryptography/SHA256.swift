internal import COpenSSL
internal import Synchronization

/// Returns the SHA-256 digest of `bytes` (FIPS 180-4): 32 bytes.
public func sha256(_ bytes: [UInt8]) -> [UInt8] {
  // The output has room for the 32 bytes that SHA-256 writes. No pointer is kept after the call.
  let digest = unsafe [UInt8](filling: 32) { output, count in
    guard let context = unsafe SHA256Context.take() else { return }
    defer { unsafe SHA256Context.giveBack(context) }
    var length: UInt32 = 0
    guard unsafe EVP_DigestInit_ex2(context, Algorithms.sha256, nil) == 1,
      unsafe EVP_DigestUpdate(context, bytes, bytes.count) == 1,
      unsafe EVP_DigestFinal_ex(context, output.baseAddress, &length) == 1
    else { return }
    count = Int(length)
  }
  precondition(digest.count == 32, "SHA-256 fails only without memory")
  return digest
}

/// A spare context for the next digest: creating and freeing a context costs as much as hashing a code.
///
/// While it is in use, other callers create their own. A used context holds the last digest, but no part of the text.
private enum SHA256Context {
  /// The address of the spare context; 0 while it is in use.
  private static let spare = Atomic<UInt>(0)

  static func take() -> OpaquePointer? {
    // Only `giveBack` stores an address, and the exchange hands it to one caller only.
    if let context = unsafe OpaquePointer(bitPattern: spare.exchange(0, ordering: .acquiring)) { return unsafe context }
    return unsafe EVP_MD_CTX_new()
  }

  static func giveBack(_ context: OpaquePointer) {
    let address = UInt(bitPattern: context)
    let (isKept, _) = spare.compareExchange(expected: 0, desired: address, ordering: .releasing)
    // The caller passes its only reference.
    if !isKept { unsafe EVP_MD_CTX_free(context) }
  }
}
