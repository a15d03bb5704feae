/// Why a store could not do what it was asked. Never the client's fault: 503, and never `invalid_grant`.
public enum StoreError: Error, Hashable, Sendable {
  /// There is no room. Live entries are not evicted for new ones (RFC 6819, section 4.4.1.11).
  case full
  /// The store cannot be reached or did not answer in time.
  case unavailable(String)
}
