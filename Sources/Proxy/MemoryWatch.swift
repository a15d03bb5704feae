import Reactor
import Time

/// Ends HTTP/2 connections whose unread responses use memory, once memory becomes short.
///
/// A client decides when it grants credit to a stream (RFC 9113, section 5.2). Until then the rest of the stream's
/// response waits in this process, and enough such clients would leave no memory for others. So while more than half of
/// the limit is in use, the client of each connection with waiting responses must accept them at the minimum rate. The
/// connection of a slower client is ended, so that no new client has to be refused.
final class MemoryWatch: TimerEntry {
  private unowned let worker: ProxyWorker
  private var isRunning = false

  init(_ worker: ProxyWorker) {
    self.worker = worker
  }

  /// Starts to measure the connections if memory is short and no measurement runs. The measurement ends after
  /// `creditWindow`.
  func checkMemory() {
    guard !isRunning, worker.isMemoryShort else { return }
    isRunning = true
    worker.forEachHTTP2Connection { $0.beginMemoryCheck() }
    worker.poller.arm(self, after: worker.settings.configuration.limits.creditWindow)
  }

  override func expired() {
    isRunning = false
    if worker.isMemoryShort {
      let limits = worker.settings.configuration.limits
      let least = max(1, limits.creditWindow.amount(perSecond: limits.minimumRate))
      worker.forEachHTTP2Connection { $0.endMemoryCheck(minimum: least) }
    }
    checkMemory()
  }
}
