internal import COpenSSL

/// The SHA-256 digest of `bytes` (FIPS 180-4): 32 bytes.
public func sha256(_ bytes: [UInt8]) -> [UInt8] {
  // The output has room for 32 bytes, which is what the algorithm writes; both pointers live for the call only.
  let digest = unsafe [UInt8](filling: 32) { output, count in
    guard unsafe EVP_Digest(bytes, bytes.count, output.baseAddress, nil, Algorithms.sha256, nil) == 1 else { return }
    count = 32
  }
  precondition(digest.count == 32, "SHA-256 fails only without memory")
  return digest
}
