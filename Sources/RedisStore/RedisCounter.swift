internal import OAuth
internal import RESP
internal import Reactor
internal import Stores
internal import Time

/// Counts the entries on the server by kind, and estimates their bytes (`RedisTally`), for the status page and the
/// metrics.
///
/// Theory of operation. The server knows the number of its keys, but not their kinds. So a count is a pass over all
/// keys (`SCAN`), in steps of `RedisLimits.scannedKeys` keys with a pause after each. Only one worker of the process
/// counts, over its connection. A count begins only with a request for figures (`RedisCount`), and is given up if no
/// further request comes for `RedisLimits.countRequestLifetime`, so an idle gateway does not wake up. The commands of a
/// count are not operations of the store: a failure, such as a missing right for `SCAN`, is shown only with the
/// figures.
final class RedisCounter: Activity {
  private let store: RedisStore
  private let client: RedisClient
  private let poller: Poller
  private let waiter: Waiter
  private var isStopped = false

  init(_ store: RedisStore, _ client: RedisClient, _ poller: Poller) {
    self.store = store
    self.client = client
    self.poller = poller
    waiter = Waiter(poller)
  }

  /// Ends the activity.
  func stop() {
    isStopped = true
    store.count.wake()
    waiter.resume(.ready)
  }

  func run() async {
    while !isStopped {
      await store.count.waitForRequest(on: poller)
      if isStopped { break }
      do throws(RedisFailure) {
        if let tally = try await countAll() {
          store.count.finished(tally.usage, now: SystemClock.monotonicTime())
        }
      } catch {
        store.count.failed(error.text, now: SystemClock.monotonicTime())
      }
    }
    waiter.cancelDeadline()
  }

  /// Counts all entries. Returns `nil` if the count was given up. Throws if the server begins another epoch: the cursor
  /// may then be from another server.
  private func countAll() async throws(RedisFailure) -> RedisTally? {
    let epoch = store.epoch
    guard epoch != .none else { throw .unreachable("the store is not connected yet") }
    var tally = RedisTally(prefix: store.prefix)
    var cursor = Words.zero
    while true {
      let reply = try await client.perform(.scan(cursor: cursor, pattern: tally.pattern), in: epoch)
      guard case .array(let parts) = reply, parts.count == 2, case .bytes(let next) = parts[0],
        case .array(let names) = parts[1]
      else { throw .unexpectedReply("to SCAN") }
      let entriesToMeasure = tally.add(names)
      if !entriesToMeasure.isEmpty {
        let reply = try await client.perform(.lengths(keys: entriesToMeasure.map(\.name)), in: epoch)
        guard case .array(let lengths) = reply, lengths.count == entriesToMeasure.count else {
          throw .unexpectedReply("to the script of lengths")
        }
        for (entry, length) in zip(entriesToMeasure, lengths) {
          // An entry that has expired since the scan has the length -1.
          if case .integer(let length) = length, length >= 0 { tally.add(length: Int(length), of: entry.kind) }
        }
      }
      if next == Words.zero { return tally }
      cursor = next
      _ = await waiter.sleep(until: poller.deadline(after: RedisLimits.countPause))
      guard !isStopped, store.count.isWanted(now: poller.now) else { return nil }
    }
  }
}
