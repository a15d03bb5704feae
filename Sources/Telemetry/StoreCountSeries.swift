public import Time

/// The state of the count of entries in a store that counts them in the background, for the metrics and the status
/// page.
public struct StoreCountSeries: Equatable, Sendable {
  /// The age of the numbers of entries and bytes; `nil` before the first count has ended.
  public let age: Seconds?
  /// The reason why the latest count failed; `nil` if it did not.
  public let problem: String?

  /// Creates the state of a count.
  public init(age: Seconds?, problem: String?) {
    self.age = age
    self.problem = problem
  }
}
