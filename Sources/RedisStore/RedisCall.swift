internal import OAuth
internal import RESP
internal import Reactor

/// A command that waits to be sent, or for its reply. Only one worker uses it.
final class RedisCall {
  enum Outcome {
    case answered(RESPReply)
    /// `wasSent` is true if the server may have executed the command.
    case failed(RedisFailure, wasSent: Bool)
  }

  /// The name of the command and its arguments.
  let words: [[UInt8]]
  let isWrite: Bool
  /// True if the command was sent before and its outcome is unknown.
  let isRepeat: Bool
  /// The epoch in which the command is valid.
  let epoch: EpochID
  /// The change of the command if no caller waits for the reply, otherwise `nil`. If the connection ends before the
  /// reply arrives, the client makes the change again.
  let deferredChange: RedisClient.DeferredChange?
  /// Set if the command writes the key that shows that this process lives (`RedisPresence`): the reply confirms this
  /// write.
  let presenceWrite: RedisPresence.Write?
  private(set) var outcome: Outcome?
  /// True if the caller no longer waits, because its deadline has passed.
  private(set) var isAbandoned = false
  private let waiter: Waiter

  init(
    _ words: [[UInt8]], isWrite: Bool, isRepeat: Bool, epoch: EpochID, deferred: RedisClient.DeferredChange? = nil,
    presence: RedisPresence.Write? = nil, _ poller: Poller
  ) {
    deferredChange = deferred
    presenceWrite = presence
    self.words = words
    self.isWrite = isWrite
    self.isRepeat = isRepeat
    self.epoch = epoch
    waiter = Waiter(poller)
  }

  /// Sets the outcome and wakes the caller. Ignores a second outcome.
  func finish(_ outcome: Outcome) {
    guard self.outcome == nil else { return }
    self.outcome = outcome
    if let presenceWrite, case .answered(.status(_)) = outcome {
      presenceWrite.confirm(now: SystemClock.monotonicTime())
    }
    if let onReply = deferredChange?.onReply, case .answered(let reply) = outcome { onReply(reply) }
    waiter.resume(.ready)
  }

  /// Waits for the outcome. Returns `nil` if the deadline passes first; it is then unknown if the command was executed.
  func wait(until deadline: Deadline) async -> Outcome? {
    while outcome == nil {
      if await waiter.sleep(until: deadline) == .timedOut { break }
    }
    waiter.cancelDeadline()
    if outcome == nil { isAbandoned = true }
    return outcome
  }
}
