/// The reason why a sealed value could not be opened (verified and decrypted).
///
/// The error is `notAuthentic` if the value was sealed for another purpose, issuer or binding, or if its salt,
/// ciphertext or tag was altered; the gateway cannot distinguish these cases. If the version or the magic bytes at the
/// start were altered, the error is `malformed`. If the key id was altered, the error is `unknownKey`, `retiredKey` or
/// `notAuthentic`.
public enum OpenError: Error, Hashable, Sendable {
  /// The text is not a sealed value: it is not canonical base64url, is too short or too long, or does not begin with
  /// the version and the magic bytes. Also the error if the decrypted payload is not a value of the expected type.
  case malformed
  /// The value was sealed with a key that this replica does not know. The replica may have an old key file, so the
  /// gateway answers 503 and never `invalid_grant`.
  case unknownKey(KeyID)
  /// The value was sealed with a key that is retired. The gateway treats it like a value that it did not seal.
  case retiredKey(KeyID)
  /// The value was not sealed by this gateway for this purpose, or was altered.
  case notAuthentic
}
