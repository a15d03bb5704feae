/// The reason why a store operation failed. It is never an error of the client: the answer is 503, never
/// `invalid_grant`.
public enum StoreError: Error, Hashable, Sendable {
  /// There is no room for another entry of the kind, or for another entry of its holder.
  case full
  /// The value is longer than its kind allows.
  case tooLong
  /// The store cannot be reached, did not answer in time, or refused the value; the text says why.
  case unavailable(String)
}
