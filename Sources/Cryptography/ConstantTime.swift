internal import COpenSSL

/// Returns true if two byte strings are equal, in a time that depends only on their lengths.
///
/// All secrets are compared with this function: verifiers, client secrets, tokens. For different lengths it returns
/// `false` at once; if the length is secret too, compare digests.
public func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
  guard left.count == right.count else { return false }
  // Both buffers hold `left.count` bytes.
  return unsafe CRYPTO_memcmp(left, right, left.count) == 0
}

/// Compares the UTF-8 bytes of two texts, in the same way.
public func constantTimeEqual(_ left: String, _ right: String) -> Bool {
  constantTimeEqual(Array(left.utf8), Array(right.utf8))
}

/// Overwrites `bytes` with zeros, in a way that the compiler does not remove, and then empties it.
///
/// Only the storage of this array is overwritten. Copies keep theirs, so a secret must have one owner.
public func wipe(_ bytes: inout [UInt8]) {
  unsafe bytes.withUnsafeMutableBytes { buffer in
    // The buffer is valid for `count` bytes while the closure runs.
    unsafe OPENSSL_cleanse(buffer.baseAddress, buffer.count)
  }
  bytes.removeAll(keepingCapacity: false)
}
