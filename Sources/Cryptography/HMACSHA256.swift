internal import COpenSSL

/// HMAC-SHA256 (RFC 2104) under one key. All calls reuse one OpenSSL context, because creating a context takes three
/// times as long as authenticating a short message.
///
/// Not sendable: each worker owns one instance.
@safe public final class HMACSHA256 {
  private let context: OpaquePointer

  /// Creates a context for `key`. The process ends if there is no memory for it.
  ///
  /// - Parameter key: At least one byte.
  public init(key: [UInt8]) {
    // For an empty array Swift may pass a null pointer, which OpenSSL reads as "keep the previous key".
    precondition(!key.isEmpty, "HMAC needs a key")
    guard let context = unsafe EVP_MAC_CTX_new(Algorithms.hmac) else { preconditionFailure("no memory for HMAC") }
    unsafe self.context = context
    // Static strings end with a zero byte and live as long as the process, so the parameters may point to them. OpenSSL
    // declares the value as mutable, but only reads it. The context stores the digest algorithm and a copy of the key.
    let name: StaticString = "digest"
    let value: StaticString = "SHA2-256"
    let parameters = unsafe [
      OSSL_PARAM_construct_utf8_string(
        UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self),
        UnsafeMutableRawPointer(mutating: value.utf8Start).assumingMemoryBound(to: CChar.self), 0),
      OSSL_PARAM_construct_end(),
    ]
    let ready = unsafe EVP_MAC_init(context, key, key.count, parameters)
    precondition(ready == 1, "HMAC does not support SHA-256")
  }

  deinit {
    // This object has the only reference to the context; freeing it also erases the key.
    unsafe EVP_MAC_CTX_free(context)
  }

  /// Returns the 32-byte authentication code of the bytes of `message` followed by those of `rest`.
  public func authenticate(_ message: [UInt8], followedBy rest: [UInt8] = []) -> [UInt8] {
    let digest = unsafe [UInt8](filling: 32) { output, count in
      // Without a key argument, `EVP_MAC_init` begins a new message under the key of the context (OpenSSL 3.0.3 and
      // newer). Each pointer is valid for the length that is passed with it, and OpenSSL does not keep the pointer. The
      // output has room for 32 bytes.
      guard unsafe EVP_MAC_init(context, nil, 0, nil) == 1,
        unsafe EVP_MAC_update(context, message, message.count) == 1,
        unsafe EVP_MAC_update(context, rest, rest.count) == 1
      else { return }
      var length = 0
      guard unsafe EVP_MAC_final(context, output.baseAddress, &length, 32) == 1 else { return }
      count = length
    }
    precondition(digest.count == 32, "HMAC failed: out of memory")
    return digest
  }
}

/// Returns the HMAC-SHA256 (RFC 2104) of one message: 32 bytes. Use an `HMACSHA256` instance for more than one message
/// under the same key.
public func hmacSHA256(key: [UInt8], message: [UInt8]) -> [UInt8] {
  HMACSHA256(key: key).authenticate(message)
}
