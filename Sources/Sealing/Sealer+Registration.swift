internal import ByteText
internal import Cryptography
public import OAuth

extension Sealer {
  /// Seals a registration. The result is the same for the same registration and key, so that a client that registers
  /// again gets its id again.
  ///
  /// Only this purpose has a synthetic salt: a MAC of the content under a key of its own. Two contents never share a
  /// salt, except with the probability of a collision of the MAC, so no message key and nonce are used for two
  /// different contents (docs/adr/0092). The sealer must have the keys for registration, which seal nothing else.
  public func seal(idempotently registration: ClientRegistration) -> String {
    var writer = PayloadWriter()
    registration.write(to: &writer)
    return seal(writer.bytes, for: .registration, in: nil, salt: syntheticSalt(of: writer.bytes))
  }

  /// Returns the secret of a registered client: an HMAC-SHA256 of its sealed registration, under a key that is derived
  /// for this alone from the key that sealed it (docs/adr/0032). Throws `OpenError` if `text` was not sealed with a key
  /// of the ring.
  public func clientSecret(of text: String) throws(OpenError) -> Secret {
    var key = try sealingHKDF(of: text).expand(info: Array("proofgate client secret".utf8), length: 32)
    defer { wipe(&key) }
    return Secret(Base64URL.encode(hmacSHA256(key: key, message: Array(text.utf8))))
  }
}
