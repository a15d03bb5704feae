internal import COpenSSL

/// AES-256-GCM (NIST SP 800-38D) with 12-byte nonces and 16-byte tags, through a context that is reused.
///
/// Not sendable: each worker owns its own. The caller sees to it that no nonce repeats under one key.
@safe public final class AES256GCM {
  public static let keyLength = 32
  public static let nonceLength = 12
  public static let tagLength = 16

  private let context: OpaquePointer

  public init() {
    guard let context = unsafe EVP_CIPHER_CTX_new() else { preconditionFailure("no memory for a cipher") }
    // Named once: a context that is given its cipher again is emptied and set up anew.
    let isReady = unsafe EVP_EncryptInit_ex2(context, Algorithms.aes256GCM, nil, nil, nil) == 1
    precondition(isReady, "no memory for a cipher")
    unsafe self.context = context
  }

  deinit {
    // Frees and cleans the only reference to the context.
    unsafe EVP_CIPHER_CTX_free(context)
  }

  /// Appends the ciphertext and its tag to `envelope`: 16 bytes more than `plaintext`.
  public func seal(
    _ plaintext: [UInt8], key: [UInt8], nonce: Span<UInt8>, authenticating data: [UInt8],
    onto envelope: inout [UInt8]
  ) {
    precondition(key.count == Self.keyLength && nonce.count == Self.nonceLength, "wrong key or nonce length")
    let length = plaintext.count + Self.tagLength
    let before = envelope.count
    unsafe nonce.withUnsafeBufferPointer { nonce in
      unsafe envelope.append(filling: length) { output, count in
        // Key and nonce have the lengths that the algorithm reads, as checked above; a stream mode writes as many bytes as
        // it is given, so ciphertext and tag fill the buffer exactly.
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

  /// The plaintext, or `nil` unless ciphertext, tag and `data` are exactly what `seal` was given and gave.
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
          // As in `seal`; the tag is copied by the library, which takes it as mutable but only reads it. One spare byte
          // keeps the output's address from being null for an empty plaintext.
          guard let start = input.baseAddress, let target = output.baseAddress else { return }
          let tag = unsafe UnsafeMutableRawPointer(mutating: start + length)
          var written: Int32 = 0
          guard unsafe EVP_DecryptInit_ex2(context, nil, key, nonce.baseAddress, nil) == 1,
            unsafe EVP_DecryptUpdate(context, nil, &written, data, Int32(data.count)) == 1,
            unsafe EVP_DecryptUpdate(context, target, &written, start, Int32(length)) == 1,
            Int(written) == length
          else { return }
          // The bytes are initialised now; whether they may be used, the tag says.
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
