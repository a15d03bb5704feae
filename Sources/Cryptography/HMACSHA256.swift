internal import COpenSSL

/// HMAC-SHA256 (RFC 2104) under one key, through a context that is reused: making one costs three times what
/// authenticating a short message costs.
///
/// Not sendable: each worker owns its own.
@safe public final class HMACSHA256 {
  private let context: OpaquePointer

  /// - Parameter key: not empty.
  public init(key: [UInt8]) {
    // An empty array may pass a null pointer, which would mean the previous key.
    precondition(!key.isEmpty, "HMAC needs a key")
    guard let context = unsafe EVP_MAC_CTX_new(Algorithms.hmac) else { preconditionFailure("no memory for HMAC") }
    unsafe self.context = context
    // Static strings end with a zero and live as long as the process, so the parameters may point to them. The library
    // takes the value as mutable but only reads it. Digest and key stay with the context, which copies the key.
    let name: StaticString = "digest"
    let value: StaticString = "SHA2-256"
    let parameters = unsafe [
      OSSL_PARAM_construct_utf8_string(
        UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self),
        UnsafeMutableRawPointer(mutating: value.utf8Start).assumingMemoryBound(to: CChar.self), 0),
      OSSL_PARAM_construct_end(),
    ]
    let ready = unsafe EVP_MAC_init(context, key, key.count, parameters)
    precondition(ready == 1, "HMAC does not take SHA-256")
  }

  deinit {
    // Frees and cleans the only reference to the context.
    unsafe EVP_MAC_CTX_free(context)
  }

  /// The 32 bytes that authenticate `message`, followed by `rest`.
  public func authenticate(_ message: [UInt8], _ rest: [UInt8] = []) -> [UInt8] {
    let digest = unsafe [UInt8](filling: 32) { output, count in
      // No key means the context's own once more, from OpenSSL 3.0.3 on. Every pointer is valid for the length given
      // beside it and is not kept; the output has room for 32 bytes.
      guard unsafe EVP_MAC_init(context, nil, 0, nil) == 1,
        unsafe EVP_MAC_update(context, message, message.count) == 1,
        unsafe EVP_MAC_update(context, rest, rest.count) == 1
      else { return }
      var length = 0
      guard unsafe EVP_MAC_final(context, output.baseAddress, &length, 32) == 1 else { return }
      count = length
    }
    precondition(digest.count == 32, "HMAC fails only without memory")
    return digest
  }
}

/// HMAC-SHA256 (RFC 2104) of one message: 32 bytes. Who authenticates often keeps an `HMACSHA256`.
public func hmacSHA256(key: [UInt8], message: [UInt8]) -> [UInt8] {
  HMACSHA256(key: key).authenticate(message)
}
