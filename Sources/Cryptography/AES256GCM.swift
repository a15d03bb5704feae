internal import COpenSSL

/// The cipher AES-256-GCM (NIST SP 800-38D) with 12-byte nonces and 16-byte tags. All calls reuse one OpenSSL context.
///
/// Not sendable: each worker owns one instance. The caller must never encrypt twice with the same key and nonce.
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
    // This call sets the cipher. Later calls pass none, because a call with a cipher would reset the whole context.
    let isReady = unsafe EVP_EncryptInit_ex2(context, Algorithms.aes256GCM, nil, nil, nil) == 1
    precondition(isReady, "no memory for a cipher")
    unsafe self.context = context
  }

  deinit {
    // This object has the only reference to the context; freeing it also erases the key.
    unsafe EVP_CIPHER_CTX_free(context)
  }

  /// Encrypts `plaintext` and appends the ciphertext and its 16-byte tag to `envelope`. The tag also authenticates
  /// `data`, which is neither encrypted nor appended.
  public func seal(
    _ plaintext: [UInt8], key: [UInt8], nonce: Span<UInt8>, authenticating data: [UInt8],
    onto envelope: inout [UInt8]
  ) {
    precondition(key.count == Self.keyLength && nonce.count == Self.nonceLength, "wrong key or nonce length")
    let length = plaintext.count + Self.tagLength
    let lengthBefore = envelope.count
    unsafe nonce.withUnsafeBufferPointer { nonce in
      unsafe envelope.append(filling: length) { output, count in
        // Key and nonce have the lengths that OpenSSL reads, as checked above. The ciphertext is as long as the
        // plaintext, so ciphertext and tag fill the buffer exactly.
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
    precondition(envelope.count == lengthBefore + length, "AES-256-GCM encryption failed: out of memory")
  }

  /// Decrypts `sealed`, a ciphertext followed by its tag. Returns `nil` if the tag does not match the key, nonce,
  /// ciphertext and `data`.
  public func open(
    _ sealed: Span<UInt8>, key: [UInt8], nonce: Span<UInt8>, authenticating data: [UInt8]
  ) -> [UInt8]? {
    precondition(key.count == Self.keyLength && nonce.count == Self.nonceLength, "wrong key or nonce length")
    guard sealed.count >= Self.tagLength else { return nil }
    let length = sealed.count - Self.tagLength
    var isAuthentic = false
    var plaintext: [UInt8] = []
    unsafe sealed.withUnsafeBufferPointer { input in
      unsafe nonce.withUnsafeBufferPointer { nonce in
        unsafe plaintext.append(filling: length + 1) { output, count in
          // Key and nonce have the lengths that OpenSSL reads, and the input consists of `length` bytes and a tag. The
          // plaintext is as long as the ciphertext. OpenSSL declares the tag as mutable, but only reads it. The output
          // has one byte more than needed, so that its address is not null for an empty plaintext.
          guard let start = input.baseAddress, let target = output.baseAddress else { return }
          let tag = unsafe UnsafeMutableRawPointer(mutating: start + length)
          var written: Int32 = 0
          guard unsafe EVP_DecryptInit_ex2(context, nil, key, nonce.baseAddress, nil) == 1,
            unsafe EVP_DecryptUpdate(context, nil, &written, data, Int32(data.count)) == 1,
            unsafe EVP_DecryptUpdate(context, target, &written, start, Int32(length)) == 1,
            Int(written) == length
          else { return }
          // `length` bytes are initialised now. They must be used only if the check of the tag below succeeds.
          count = length
          guard unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagLength), tag) == 1,
            unsafe EVP_DecryptFinal_ex(context, target + length, &written) == 1
          else { return }
          isAuthentic = true
        }
      }
    }
    guard isAuthentic else {
      wipe(&plaintext)
      return nil
    }
    return plaintext
  }
}
