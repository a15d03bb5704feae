internal import Time

/// The times and sizes of the connection to a Redis server.
enum RedisLimits {
  /// The time to connect, to authenticate and to read the epoch. A connection to another continent takes a few
  /// hundred milliseconds, with TLS.
  static let connectTimeout: Milliseconds = 1_000
  /// The time to ask one sentinel. After three silent ones, a part of `operationTimeout` remains for the primary.
  static let sentinelTimeout: Milliseconds = 300
  /// The time after which a reply is overdue. The server executes one command at a time, so an overdue reply delays all
  /// later ones.
  static let replyTimeout: Milliseconds = 500
  /// The time for which the server waits for its replicas.
  static let replicaTimeout: Milliseconds = 250
  /// The time of an operation with all its repeats. The request that needs the operation waits as long.
  static let operationTimeout: Milliseconds = 1_500
  /// The first and the longest pause between two attempts to connect. With them and `connectTimeout`, the gateway
  /// notices a recovered server within 2 s.
  static let firstPause: Milliseconds = 50
  static let longestPause: Milliseconds = 500
  /// The maximum number of operations in progress on one worker, which is more than a worker has requests.
  static let maximumOperations = 16_384
  /// The maximum number of changes that wait for the next connect, or until the server accepts them.
  static let maximumDeferredChanges = 1_024
  /// The pause after which a change that the server has refused, e.g. for lack of memory, is sent again.
  static let deferredPause: Milliseconds = 1_000
  /// The number of keys that one `SCAN` of a count examines. It is small, because the server executes no other command
  /// meanwhile.
  static let scannedKeys = 500
  /// The maximum number of values of one kind whose lengths a step of a count measures.
  static let measuredValues = 8
  /// The pause between two steps of a count, so that the server receives only a few of its commands in a second. Half a
  /// million entries are counted in four minutes.
  static let countPause: Milliseconds = 250
  /// The time after a count in which requests for figures do not begin another one.
  static let countInterval: Milliseconds = 60_000
  /// The time after the last request for figures at which a count that has not ended is given up.
  static let countRequestLifetime: Milliseconds = 600_000
  /// The lifetime of the key of a process that holds claims. Once the key has ended, other processes may take over the
  /// claims.
  static let presenceLifetime: Milliseconds = 5_000
  /// The time between two writes of the key of a process. If one write fails, two more follow before the key ends.
  static let presenceInterval: Milliseconds = 1_500
  /// The time for which the key must still exist when a claim is sent. It is longer than the sum of `operationTimeout`
  /// and the time for which the key must exist when the upstream request begins (`UpstreamHold.claimSafetyTime`).
  static let presenceReserve: Milliseconds = 3_000
  /// The time from the first connection in an epoch until this process may find other processes gone. Another process
  /// may rely on its key of the earlier epoch for `presenceLifetime`, and then needs time to reconnect.
  static let presenceGrace: Milliseconds = 10_000
  /// The time for which the key of a process must be missing before the process counts as gone. It is longer than the
  /// gateway takes to notice a recovered server and to record the ends of claims there.
  static let presenceConfirmation: Milliseconds = 3_000
  /// The maximum number of processes whose missing keys are remembered, and the time after which such a process may be
  /// forgotten to make room for another.
  static let maximumMissing = 256
  static let missingLifetime: Milliseconds = 600_000
  /// The time between two reports of the same problem.
  static let reportInterval: Seconds = 60
}

/// The pauses between attempts to connect.
struct Backoff {
  private var next = RedisLimits.firstPause

  /// Returns the next pause, which doubles up to `longestPause`. A random part of up to a quarter is subtracted, so
  /// that the workers of many processes do not connect at the same time.
  ///
  /// - Parameter random: a random byte.
  mutating func pause(random: UInt8) -> Milliseconds {
    defer { next = min(RedisLimits.longestPause, next * 2) }
    return next - next * Int(random) / 1_024
  }

  /// Makes the next pause the first one again, because the server has replied.
  mutating func reset() { self = Backoff() }
}
