internal import COpenSSL

/// True if two byte strings are equal, in a time that depends only on their lengths.
///
/// The one comparison for secrets: verifiers, client secrets, tokens. A difference in length answers `false` at once;
/// where the length is itself secret, compare digests.
public func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
  guard left.count == right.count else { return false }
  // Both buffers hold `left.count` bytes.
  return unsafe CRYPTO_memcmp(left, right, left.count) == 0
}

/// The same for text, over its UTF-8 bytes.
public func constantTimeEqual(_ left: String, _ right: String) -> Bool {
  constantTimeEqual(Array(left.utf8), Array(right.utf8))
}

/// Overwrites `bytes` with zeros and empties it, in a way that the compiler does not remove.
///
/// Only this array's storage is cleaned: copies that share it keep theirs, so secrets have one owner.
public func wipe(_ bytes: inout [UInt8]) {
  unsafe bytes.withUnsafeMutableBytes { buffer in
    // The buffer is valid for `count` bytes while the closure runs.
    unsafe OPENSSL_cleanse(buffer.baseAddress, buffer.count)
  }
  bytes.removeAll(keepingCapacity: false)
}
