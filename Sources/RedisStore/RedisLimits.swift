/// The times and sizes of the connection to a Redis server.
enum RedisLimits {
  /// Milliseconds to connect, to authenticate and to read the epoch. A connection to another continent takes a few
  /// hundred, with TLS.
  static let connect = 1_000
  /// Milliseconds to ask one sentinel, so that three silent ones leave time for the primary.
  static let sentinel = 300
  /// Milliseconds after which a reply is overdue. The server executes one command at a time, so all others wait too.
  static let reply = 500
  /// Milliseconds for which the server waits for its replicas.
  static let wait: Int64 = 250
  /// Milliseconds of an operation with all its repeats. The request that needs it waits as long.
  static let operation = 1_500
  /// Milliseconds of the first and of the longest pause between two attempts to connect. Together with `connect`, the
  /// gateway notices a recovered server within 2 s.
  static let firstPause = 50
  static let longestPause = 500
  /// The maximum number of operations in progress on one worker, which is more than a worker has requests.
  static let operations = 16_384
  /// The maximum number of claims of unknown outcome that are removed after a reconnect.
  static let leftovers = 1_024
  /// Seconds between two reports of the same problem.
  static let report: UInt64 = 60
}

/// The pauses between attempts to connect.
struct Backoff {
  private var next = RedisLimits.firstPause

  /// Returns the next pause in milliseconds: twice the last one, less up to a quarter, so that the workers of many
  /// processes do not connect at the same time.
  ///
  /// - Parameter random: a random byte.
  mutating func pause(random: UInt8) -> Int {
    defer { next = min(RedisLimits.longestPause, next * 2) }
    return next - next * Int(random) / 1_024
  }

  /// Makes the next pause the first one again, because the server has replied.
  mutating func reset() { self = Backoff() }
}
