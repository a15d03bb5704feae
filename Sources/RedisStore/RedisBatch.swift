internal import RESP
internal import Time

/// The commands that a worker sends together, followed by the commands that decide if their replies are valid: `GET` of
/// the epoch, and `WAIT` if replicas must have the writes.
///
/// The epoch is read after all other commands, on the same connection. If the server then has another epoch than the
/// gateway expects, the server has lost its data or is not the primary that the gateway knew, so all commands count as
/// not executed.
struct RedisBatch {
  let calls: [RedisCall]
  /// True if a write without effect, the fence, follows the commands. `WAIT` counts the replicas that have all writes
  /// of *this* connection. A repeated command may write nothing on this connection, because an earlier attempt has
  /// written over another connection. A replica that has the fence also has the write of the earlier attempt.
  let hasFence: Bool
  /// The number of replicas that must have the writes; `nil` if there is no such condition.
  let replicas: Int?
  /// The time by which all replies must have arrived.
  let due: MonotonicTime
  private var replies: [RESPReply] = []

  init(_ calls: [RedisCall], replicas: Int, due: MonotonicTime) {
    self.calls = calls
    let waitsForReplicas = replicas > 0 && calls.contains(where: \.isWrite)
    hasFence = waitsForReplicas && calls.contains { $0.isWrite && $0.isRepeat }
    self.replicas = waitsForReplicas ? replicas : nil
    self.due = due
  }

  /// The number of replies: one to each command, to the fence if there is one, to `GET` of the epoch, and to `WAIT` if
  /// replicas must have the writes.
  private var replyCount: Int { calls.count + (hasFence ? 1 : 0) + 1 + (replicas == nil ? 0 : 1) }

  /// Adds the next reply. Returns true if it was the last.
  mutating func add(_ reply: RESPReply) -> Bool {
    replies.append(reply)
    return replies.count == replyCount
  }

  /// Passes the outcome of each command to its call. Throws if the connection must be closed.
  ///
  /// - Parameters:
  ///   - epoch: the expected value of the epoch key.
  ///   - hasSentinels: true if the settings name sentinels. If too few replicas have the writes, the sentinels may have
  ///     made another server the primary. The connection is then closed, so that the next connect asks the sentinels
  ///     again.
  func settle(epoch: [UInt8], hasSentinels: Bool) throws(RedisFailure) {
    if let failure = epochFailure(epoch) {
      fail(failure)
      if failure.endsConnection { throw failure }
      return
    }
    let shortage = shortage
    var fatal: RedisFailure?
    for (call, reply) in zip(calls, replies) {
      if case .error(let text) = reply {
        let failure = RedisFailure(reply: text)
        if failure.endsConnection { fatal = failure }
      }
      if let shortage, call.isWrite {
        call.finish(.failed(shortage, wasSent: true))
      } else {
        call.finish(.answered(reply))
      }
    }
    if let shortage, hasSentinels || shortage.endsConnection { throw shortage }
    if let fatal { throw fatal }
  }

  /// Passes a failure to each call.
  func fail(_ failure: RedisFailure) {
    for call in calls { call.finish(.failed(failure, wasSent: true)) }
  }

  /// Returns the failure of all commands if the server is not in the epoch `epoch`; `nil` if it is.
  private func epochFailure(_ epoch: [UInt8]) -> RedisFailure? {
    switch replies[calls.count + (hasFence ? 1 : 0)] {
    case .bytes(epoch): nil
    case .error(let text): RedisFailure(reply: text)
    case .bytes, .null: .otherEpoch
    case .status, .integer, .array: .unexpectedReply("to GET")
    }
  }

  /// The failure of `WAIT`; `nil` if enough replicas have the writes, or none are required.
  private var shortage: RedisFailure? {
    guard let replicas, let reply = replies.last else { return nil }
    switch reply {
    case .integer(let count): return count >= Int64(replicas) ? nil : .tooFewReplicas(has: Int(count), needs: replicas)
    case .error(let text): return RedisFailure(reply: text)
    case .status, .bytes, .null, .array: return .unexpectedReply("to WAIT")
    }
  }
}
