/// The reason why a store did not do what it was asked. Never the client's fault: 503, and never `invalid_grant`.
public enum StoreError: Error, Hashable, Sendable {
  /// There is no room for another entry of the kind, or for another one of its holder.
  case full
  /// The value is longer than its kind allows.
  case tooLong
  /// The store cannot be reached or did not answer in time.
  case unavailable(String)
}
