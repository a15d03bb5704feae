internal import COpenSSL

/// Returns true if two byte strings are equal, in a time that depends only on their lengths.
///
/// All secrets are compared with this function: code verifiers, client secrets, encryption keys, digests of cookie
/// secrets. It returns `false` at once if the lengths differ. If the length is secret too, compare digests instead.
public func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
  guard left.count == right.count else { return false }
  // Both buffers hold `left.count` bytes.
  return unsafe CRYPTO_memcmp(left, right, left.count) == 0
}

/// Returns true if two texts have the same UTF-8 bytes, in a time that depends only on their lengths.
public func constantTimeEqual(_ left: String, _ right: String) -> Bool {
  let (left, right) = (left.utf8.span, right.utf8.span)
  guard left.count == right.count else { return false }
  return unsafe left.withUnsafeBufferPointer { left in
    unsafe right.withUnsafeBufferPointer { right in
      // Both buffers hold `left.count` bytes. An empty one may have no address.
      guard let first = left.baseAddress, let second = right.baseAddress else { return left.isEmpty }
      return unsafe CRYPTO_memcmp(first, second, left.count) == 0
    }
  }
}

/// Overwrites the bytes of an array with zeros and then empties the array. The compiler does not optimise this away.
///
/// Copies of the array keep their bytes, so do not copy an array that contains a secret.
public func wipe(_ bytes: inout [UInt8]) {
  unsafe bytes.withUnsafeMutableBytes { buffer in
    // The buffer is valid for `count` bytes while the closure runs.
    unsafe OPENSSL_cleanse(buffer.baseAddress, buffer.count)
  }
  bytes.removeAll(keepingCapacity: false)
}
