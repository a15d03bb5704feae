internal import Reactor
public import Stores

extension RedisStore {
  /// The entries and bytes of each kind, as counted in the background; empty before the first count has ended.
  public var usage: [StoreUsage] { count.usage }

  /// The age of `usage`, and the reason why the latest count failed.
  public var latestCount: StoreCount? { count.state(now: SystemClock.monotonicTime()) }

  /// Begins a count if the latest one ended a minute ago or earlier. A running count is given up if no further call
  /// follows.
  public func beginCount() { count.request(now: SystemClock.monotonicTime()) }
}
