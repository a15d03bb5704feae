internal import COpenSSL

/// The cipher AES-256-GCM (NIST SP 800-38D) with 12-byte nonces and 16-byte tags, through a reused OpenSSL context.
///
/// Not sendable: each worker owns one. The caller must never use a nonce twice with one key.
@safe public final class AES256GCM {
  /// The length of a key: 32 bytes.
  public static let keyLength = 32
  /// The length of a nonce: 12 bytes.
  public static let nonceLength = 12
  /// The length of an authentication tag: 16 bytes.
  public static let tagLength = 16

  private let context: OpaquePointer

  /// Creates the context. The process ends if there is no memory for it.
  public init() {
    guard let context = unsafe EVP_CIPHER_CTX_new() else { preconditionFailure("no memory for a cipher") }
    // The cipher is set only here: naming it again in later calls would make OpenSSL reset the whole context.
    let isReady = unsafe EVP_EncryptInit_ex2(context, Algorithms.aes256GCM, nil, nil, nil) == 1
    precondition(isReady, "no memory for a cipher")
    unsafe self.context = context
  }

  deinit {
    // This object has the only reference to the context; freeing it also erases the key.
    unsafe EVP_CIPHER_CTX_free(context)
  }

  /// Appends the ciphertext and its tag to `envelope`: 16 bytes more than `plaintext`. `data` is authenticated, but not
  /// part of the envelope.
  public func seal(
    _ plaintext: [UInt8], key: [UInt8], nonce: Span<UInt8>, authenticating data: [UInt8],
    onto envelope: inout [UInt8]
  ) {
    precondition(key.count == Self.keyLength && nonce.count == Self.nonceLength, "wrong key or nonce length")
    let length = plaintext.count + Self.tagLength
    let before = envelope.count
    unsafe nonce.withUnsafeBufferPointer { nonce in
      unsafe envelope.append(filling: length) { output, count in
        // Key and nonce have the lengths that OpenSSL reads, as checked above. GCM writes as many bytes as it reads, so
        // ciphertext and tag fill the buffer exactly.
        guard let start = output.baseAddress else { return }
        var written: Int32 = 0
        guard unsafe EVP_EncryptInit_ex2(context, nil, key, nonce.baseAddress, nil) == 1,
          unsafe EVP_EncryptUpdate(context, nil, &written, data, Int32(data.count)) == 1,
          unsafe EVP_EncryptUpdate(context, start, &written, plaintext, Int32(plaintext.count)) == 1,
          Int(written) == plaintext.count,
          unsafe EVP_EncryptFinal_ex(context, start + plaintext.count, &written) == 1,
          unsafe EVP_CIPHER_CTX_ctrl(
            context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagLength), start + plaintext.count) == 1
        else { return }
        count = length
      }
    }
    precondition(envelope.count == before + length, "AES-256-GCM fails only without memory")
  }

  /// Returns the plaintext, or `nil` unless key, nonce, ciphertext, tag and `data` are those of one call of `seal`.
  public func open(
    _ sealed: Span<UInt8>, key: [UInt8], nonce: Span<UInt8>, authenticating data: [UInt8]
  ) -> [UInt8]? {
    precondition(key.count == Self.keyLength && nonce.count == Self.nonceLength, "wrong key or nonce length")
    guard sealed.count >= Self.tagLength else { return nil }
    let length = sealed.count - Self.tagLength
    var authentic = false
    var plaintext: [UInt8] = []
    unsafe sealed.withUnsafeBufferPointer { input in
      unsafe nonce.withUnsafeBufferPointer { nonce in
        unsafe plaintext.append(filling: length + 1) { output, count in
          // As in `seal`. The library copies the tag: the parameter is mutable, but is only read. One spare byte in the
          // output keeps its address from being null for an empty plaintext.
          guard let start = input.baseAddress, let target = output.baseAddress else { return }
          let tag = unsafe UnsafeMutableRawPointer(mutating: start + length)
          var written: Int32 = 0
          guard unsafe EVP_DecryptInit_ex2(context, nil, key, nonce.baseAddress, nil) == 1,
            unsafe EVP_DecryptUpdate(context, nil, &written, data, Int32(data.count)) == 1,
            unsafe EVP_DecryptUpdate(context, target, &written, start, Int32(length)) == 1,
            Int(written) == length
          else { return }
          // All bytes are initialised now; the tag decides below if they may be used.
          count = length
          guard unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagLength), tag) == 1,
            unsafe EVP_DecryptFinal_ex(context, target + length, &written) == 1
          else { return }
          authentic = true
        }
      }
    }
    guard authentic else {
      wipe(&plaintext)
      return nil
    }
    return plaintext
  }
}
