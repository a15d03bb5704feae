public import Time

/// The state of the count of entries in a store that has to count them in the background.
public struct StoreCount: Hashable, Sendable {
  /// The time since the end of the latest complete count, whose result is `EphemeralStore.usage`; `nil` before the
  /// first one.
  public let age: Milliseconds?
  /// The reason why the latest count failed; `nil` if it succeeded, or if none has ended yet.
  public let problem: String?

  /// Creates the state of a count.
  package init(age: Milliseconds?, problem: String?) {
    self.age = age
    self.problem = problem
  }
}
