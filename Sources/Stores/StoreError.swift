/// The reason why a store operation failed. It is never `invalid_grant`, because codes and tokens stay valid.
public enum StoreError: Error, Hashable, Sendable {
  /// There is no room for another entry of the kind, or for another entry of its holder. The answer is 503, because a
  /// repeat of the request may succeed.
  case full
  /// The value is longer than its kind allows. A repeat would fail as well, so the answer is not 503: a `state` and
  /// `scope` that do not fit behind a handle get 400, and a pushed request gets 413 (RFC 9126, section 2.3). Tokens and
  /// responses that are too long are not stored, and the client gets them nevertheless.
  case tooLong
  /// The store cannot be reached, did not answer in time, or refused the value; the text says why. The answer is 503.
  case unavailable(String)
}
