internal import COpenSSL

/// The OpenSSL algorithms. Each is fetched only once, because a fetch by name takes longer than hashing a PKCE
/// verifier.
///
/// `nonisolated(unsafe)` is sound because the objects are immutable and live as long as the process, and OpenSSL
/// documents that threads may share them.
enum Algorithms {
  nonisolated(unsafe) static let sha256: OpaquePointer = {
    CryptographyLibrary.start()
    guard let algorithm = unsafe EVP_MD_fetch(nil, "SHA2-256", nil) else { preconditionFailure("no SHA-256") }
    return unsafe algorithm
  }()

  nonisolated(unsafe) static let hmac: OpaquePointer = {
    CryptographyLibrary.start()
    guard let algorithm = unsafe EVP_MAC_fetch(nil, "HMAC", nil) else { preconditionFailure("no HMAC") }
    return unsafe algorithm
  }()

  nonisolated(unsafe) static let aes256GCM: OpaquePointer = {
    CryptographyLibrary.start()
    guard let algorithm = unsafe EVP_CIPHER_fetch(nil, "AES-256-GCM", nil) else {
      preconditionFailure("no AES-256-GCM")
    }
    return unsafe algorithm
  }()
}
