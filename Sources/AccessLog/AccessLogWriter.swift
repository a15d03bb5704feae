internal import ByteText
internal import Reactor
internal import Synchronization
internal import Telemetry
internal import Time

/// The thread that takes the lines of all workers and writes them to their destination.
///
/// Theory of operation. `state` tells a worker whether it must wake the thread:
///
///     working       The thread looks for lines before it sleeps. No signal is needed.
///     collecting    The thread waits for a short time for more lines, to write them together. A worker signals it only
///                   if its ring is half full.
///     asleep        The thread sleeps until it is signalled. A worker that appends a line signals it.
///
/// The thread stores `asleep` and then looks at the rings; a worker appends a line and then looks at `state`. All four
/// accesses are sequentially consistent, so at least one of the two sees what the other has done.
///
/// A change of the destination is requested by `Control`, which the thread takes before it empties the rings. So lines
/// that were appended before a request go to the old destination, unless that does not accept them.
final class AccessLogWriter: Sendable {
  private enum State {
    static let working = 0
    static let collecting = 1
    static let asleep = 2
  }

  /// The requests to the thread.
  struct Control: Sendable {
    var reopens = false
    var stops = false
    /// The new destination; `.some(nil)` for none.
    var output: AccessLogOutput??

    var isEmpty: Bool { !reopens && !stops && output == nil }
  }

  /// The time for which lines are collected before they are written together.
  private static let batchTime: Milliseconds = 10
  /// The size of the ring of a worker in bytes: about 1,500 lines.
  private static let ringSize = 512 * 1024

  let rings: [ByteRing]
  private let signal: ThreadSignal
  private let state = Atomic<Int>(State.working)
  private let control = Mutex(Control())
  private let metrics: MetricsRegistry
  private let notice: @Sendable (String) -> Void
  private let hasEnded = Atomic<Bool>(false)
  /// True if a ring had no room for a line since the destination last accepted all lines.
  private let isOverloaded = Atomic<Bool>(false)

  /// Creates the writer and starts its thread.
  init(
    workers: Int, output: AccessLogOutput, metrics: MetricsRegistry, notice: @escaping @Sendable (String) -> Void
  ) throws(IOError) {
    signal = try ThreadSignal()
    rings = (0..<workers).map { _ in ByteRing(capacity: AccessLogWriter.ringSize) }
    self.metrics = metrics
    self.notice = notice
    try OSThread.start("access-log") { [self] in
      run(output)
      hasEnded.store(true, ordering: .releasing)
    }
  }

  /// True once the thread has written the last lines.
  var isDone: Bool { hasEnded.load(ordering: .acquiring) }

  /// Counts a line for which a ring has no room. Called by a worker.
  @inline(never)
  func dropLine() {
    countDropped(1)
    // The thread may be waiting for the reader of the destination. It must tell the operator.
    if !isOverloaded.exchange(true, ordering: .relaxed) { signal.signal() }
  }

  private func countDropped(_ lines: Int) { metrics.accessLinesDropped(UInt64(clamping: lines)) }

  /// Wakes the thread if it sleeps. Called by a worker after it has appended a line.
  ///
  /// - Parameter isUrgent: True if the thread must not wait for more lines.
  @inline(__always)
  func wake(isUrgent: Bool) {
    let current = state.load(ordering: .sequentiallyConsistent)
    if current == State.asleep || isUrgent && current == State.collecting { signalThread() }
  }

  @inline(never)
  private func signalThread() {
    // Only the first of several workers signals.
    if state.exchange(State.working, ordering: .sequentiallyConsistent) != State.working { signal.signal() }
  }

  /// Passes a request to the thread.
  func request(_ change: (inout Control) -> Void) {
    control.withLock { change(&$0) }
    signal.signal()
  }

  // MARK: The thread

  private func run(_ output: AccessLogOutput) {
    var delivery = LineDelivery(output)
    while true {
      waitForWork(hasRest: delivery.hasRest)
      reportOverload(of: delivery)
      var request = control.withLock { control in
        defer { control = Control() }
        return control
      }
      // Without an old destination, all lines belong to the new one.
      if delivery.isOff, let output = request.output {
        request.output = nil
        countDropped(delivery.replace(output))
      }
      // A change of the destination must not wait for the reader of the old one.
      let mayWait = !request.reopens && request.output == nil
      var works = deliver(&delivery, mayWait: mayWait)
      // If the old destination fails, the other lines go to the new one.
      for ring in rings where !delivery.hasRest && (works || request.output == nil) {
        ring.take(into: &delivery.bytes)
        works = deliver(&delivery, mayWait: mayWait)
      }
      if let output = request.output {
        countDropped(delivery.replace(output))
      } else if request.reopens, let error = delivery.reopen() {
        notice("\(delivery.name) cannot be opened again: \(error); lines go to the old file")
      }
      if request.stops { return }
    }
  }

  /// Returns false if the destination has failed.
  private func deliver(_ delivery: inout LineDelivery, mayWait: Bool) -> Bool {
    guard let loss = delivery.deliver(unless: mayWait ? signal : nil) else { return true }
    countDropped(loss.lines)
    notice("\(delivery.name) cannot be written: \(loss.error); its lines are dropped and counted")
    return false
  }

  /// Informs the operator if lines were dropped because the destination does not accept them fast enough.
  private func reportOverload(of delivery: LineDelivery) {
    let isOverloaded =
      delivery.hasRest
      ? isOverloaded.load(ordering: .relaxed) : isOverloaded.exchange(false, ordering: .relaxed)
    guard isOverloaded else { return }
    notice("\(delivery.name) does not accept lines fast enough; further ones are dropped and counted")
  }

  /// Waits until there are lines or requests.
  ///
  /// - Parameter hasRest: True if lines were not accepted by the destination. Then the thread does not sleep, because
  ///   the delivery waits for the destination.
  private func waitForWork(hasRest: Bool) {
    guard !hasRest else { return }
    while true {
      state.store(State.asleep, ordering: .sequentiallyConsistent)
      if hasWork { break }
      signal.wait()
    }
    if hasRequest {
      state.store(State.working, ordering: .sequentiallyConsistent)
      return
    }
    state.store(State.collecting, ordering: .sequentiallyConsistent)
    if !rings.contains(where: { $0.count > $0.capacity / 2 }) {
      signal.pause(atMost: AccessLogWriter.batchTime)
    }
    state.store(State.working, ordering: .sequentiallyConsistent)
  }

  private var hasRequest: Bool { control.withLock { !$0.isEmpty } }

  private var hasWork: Bool { rings.contains { $0.count > 0 } || hasRequest }
}
