import Reactor

/// Ends HTTP/2 connections that hold memory without reading their responses, once memory becomes short.
///
/// A client decides when it grants credit to a stream (RFC 9113, section 5.2). Until then the rest of its response
/// waits here, and enough such clients would leave no memory for others. So above half of the limit, each connection
/// with waiting responses must accept them at the minimum rate, as any other slow client must. A connection that does
/// not is ended, instead of refusing the next client.
final class MemoryWatch: TimerEntry {
  private unowned let worker: ProxyWorker
  private var isRunning = false

  init(_ worker: ProxyWorker) {
    self.worker = worker
  }

  private var isShort: Bool { worker.poller.buffers.bytes > worker.poller.buffers.limit / 2 }

  /// Checks whether memory is short, and starts a window if it is.
  func look() {
    guard !isRunning, isShort else { return }
    isRunning = true
    worker.forEachHTTP2Connection { $0.beginWatch() }
    worker.poller.arm(self, after: worker.settings.configuration.limits.creditWindow)
  }

  override func expired() {
    isRunning = false
    if isShort {
      let limits = worker.settings.configuration.limits
      let least = max(1, limits.minimumRate * limits.creditWindow / 1_000)
      worker.forEachHTTP2Connection { $0.endWatch(atLeast: least) }
    }
    look()
  }
}
