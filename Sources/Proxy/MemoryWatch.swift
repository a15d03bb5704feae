import Reactor

/// Ends the HTTP/2 connections that hold memory without taking what it holds, once memory becomes short.
///
/// A client decides when it gives a stream credit (RFC 9113, section 5.2). Until then the rest of its responses waits here,
/// and enough such clients would leave no memory for others. So from half of the limit on, each connection with waiting
/// responses has to take them at the minimum rate, which is what any other slow client has to do as well. One that does not
/// is ended; the client that comes next is not refused for it.
final class MemoryWatch: TimerEntry {
  private unowned let worker: ProxyWorker
  private var isRunning = false

  init(_ worker: ProxyWorker) {
    self.worker = worker
  }

  private var isShort: Bool { worker.poller.buffers.bytes > worker.poller.buffers.limit / 2 }

  /// Looks whether memory is short, and begins a window if it is.
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
