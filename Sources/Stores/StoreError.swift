/// The reason why a store operation failed. After such a failure, the gateway never responds with `invalid_grant`,
/// because the code or token of the request stays valid.
public enum StoreError: Error, Hashable, Sendable {
  /// There is no room for another entry of the kind, or the holder of the new entry has reached its limit. A request
  /// that needs the entry is refused with 503 or an error redirect (`temporarily_unavailable`), because a repeat may
  /// succeed.
  case full
  /// The value is longer than its kind allows. A repeat would fail as well, so the request is not refused with 503: an
  /// authorization request whose `state` and `scope` are too long for the store gets 400, and a pushed request gets 413
  /// (RFC 9126, section 2.3). Tokens and responses that are too long are not stored, and the client gets them
  /// nevertheless.
  case tooLong
  /// The store cannot be reached, did not answer in time, or refused the value; the text says why. A request that needs
  /// the operation is refused as with `full`.
  case unavailable(String)
}
