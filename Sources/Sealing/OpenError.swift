/// The reason why a sealed value could not be opened (verified and decrypted).
///
/// The error is `notAuthentic` if the value was sealed for another purpose, issuer or binding, or if its ciphertext,
/// tag or salt was altered; the gateway cannot distinguish these cases. An alteration of the first eight bytes gives
/// `malformed`, `unknownKey`, `retiredKey` or `notAuthentic`.
public enum OpenError: Error, Hashable, Sendable {
  /// The text is not a sealed value: it is not canonical base64url, is too short or too long, or does not begin with
  /// version and mark. Or the decrypted payload does not have the form of the expected type.
  case malformed
  /// The value was sealed with a key that this replica does not know. The replica may have an old key file, so the
  /// gateway answers 503 and never `invalid_grant`.
  case unknownKey(KeyID)
  /// The value was sealed with a key that is retired. The gateway treats it as expired.
  case retiredKey(KeyID)
  /// The value was not sealed by this gateway for this purpose, or was altered.
  case notAuthentic
}
