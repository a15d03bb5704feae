/// A histogram of durations with fixed buckets. One thread fills it, and any thread may read it.
struct LatencyHistogram: ~Copyable, Sendable {
  /// The upper bounds of the buckets in seconds, as Prometheus writes them. The last bucket has no upper bound. The
  /// bounds suit both the gateway itself, which takes less than a millisecond, and a slow upstream, which takes up to
  /// `response_timeout`, by default a minute. Downloads and tunnels may take longer.
  static let bounds = [
    "0.0001", "0.00025", "0.0005", "0.001", "0.0025", "0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1",
    "2.5",
    "5", "10", "30", "60", "120", "300",
  ]

  private let buckets = InlineArray<21, Counter> { _ in Counter() }
  private let sum = Counter()

  /// Counts one duration. Call it only on the thread that fills the histogram.
  func observe(nanoseconds: UInt64) {
    buckets[LatencyHistogram.bucketIndex(nanoseconds)].add(1)
    sum.add(nanoseconds)
  }

  /// The current counts.
  var snapshot: HistogramSnapshot {
    HistogramSnapshot(buckets: buckets.indices.map { buckets[$0].value }, nanoseconds: sum.value)
  }

  /// Returns the index of the bucket for a duration. A duration that equals a bound is in the bucket with that upper
  /// bound.
  private static func bucketIndex(_ nanoseconds: UInt64) -> Int {
    switch nanoseconds {
    case ...100_000: 0
    case ...250_000: 1
    case ...500_000: 2
    case ...1_000_000: 3
    case ...2_500_000: 4
    case ...5_000_000: 5
    case ...10_000_000: 6
    case ...25_000_000: 7
    case ...50_000_000: 8
    case ...100_000_000: 9
    case ...250_000_000: 10
    case ...500_000_000: 11
    case ...1_000_000_000: 12
    case ...2_500_000_000: 13
    case ...5_000_000_000: 14
    case ...10_000_000_000: 15
    case ...30_000_000_000: 16
    case ...60_000_000_000: 17
    case ...120_000_000_000: 18
    case ...300_000_000_000: 19
    default: 20
    }
  }
}

/// The counts of a histogram at one moment.
public struct HistogramSnapshot: Equatable, Sendable {
  /// The number of durations in each bucket, without those of lower buckets. The last bucket has no upper bound.
  public internal(set) var buckets = [UInt64](repeating: 0, count: 21)
  /// The sum of all durations, in nanoseconds.
  public internal(set) var nanoseconds: UInt64 = 0

  /// Creates the counts of a histogram without durations.
  public init() {}

  init(buckets: [UInt64], nanoseconds: UInt64) {
    self.buckets = buckets
    self.nanoseconds = nanoseconds
  }

  /// The number of durations in all buckets.
  public var count: UInt64 { buckets.reduce(0, +) }

  /// Adds the counts of another histogram.
  static func += (left: inout HistogramSnapshot, right: HistogramSnapshot) {
    for index in left.buckets.indices { left.buckets[index] += right.buckets[index] }
    left.nanoseconds &+= right.nanoseconds
  }
}

extension HistogramSnapshot {
  /// The upper bounds of the buckets in seconds, except for the last bucket, which has none.
  public static let bounds = LatencyHistogram.bounds.compactMap { Double($0) }

  /// Estimates the duration in seconds below which a part of all durations lies. The durations of a bucket are taken to
  /// be evenly distributed, as `histogram_quantile` of Prometheus does. Returns `nil` if there are no durations, and the
  /// lower bound of the last bucket for durations in it.
  ///
  /// - Parameter part: The part, from 0 to 1, e.g. 0.99.
  public func quantile(_ part: Double) -> Double? {
    let total = count
    guard total > 0 else { return nil }
    let rank = part * Double(total)
    var below: UInt64 = 0
    for (index, bound) in HistogramSnapshot.bounds.enumerated() {
      let inBucket = buckets[index]
      if inBucket > 0, Double(below + inBucket) >= rank {
        let lower = index == 0 ? 0 : HistogramSnapshot.bounds[index - 1]
        return lower + (bound - lower) * (rank - Double(below)) / Double(inBucket)
      }
      below += inBucket
    }
    return HistogramSnapshot.bounds.last
  }
}
