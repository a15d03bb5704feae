/// The reason why a sealed value did not open.
///
/// A value of another purpose, of another issuer, or altered in any bit is `notAuthentic`. These cases cannot be
/// distinguished.
public enum OpenError: Error, Hashable, Sendable {
  /// Not an envelope: not canonical base64url, too short or long, without version and mark, or a payload of another layout.
  case malformed
  /// Sealed under a key that this replica has never seen: it may be behind, so this is 503 and never `invalid_grant`.
  case unknownKey(KeyID)
  /// Sealed under a key that was taken out of use: as good as expired.
  case retiredKey(KeyID)
  /// Not sealed by this gateway for this purpose.
  case notAuthentic
}
