/// The reason why a sealed value could not be opened.
///
/// A value that was sealed for another purpose or issuer, or altered in any bit, is `notAuthentic`; these cases cannot
/// be distinguished.
public enum OpenError: Error, Hashable, Sendable {
  /// Not an envelope: not canonical base64url, too short or too long, without version and mark, or with an unknown
  /// payload layout.
  case malformed
  /// Sealed with a key that this replica does not know. The replica may have an old key file, so the answer is 503 and
  /// never `invalid_grant`.
  case unknownKey(KeyID)
  /// Sealed with a key that is retired; treated as expired.
  case retiredKey(KeyID)
  /// Not sealed by this gateway for this purpose.
  case notAuthentic
}
