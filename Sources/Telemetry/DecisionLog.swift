internal import Synchronization

/// The decision log: one JSON line per judged request, written by one thread.
///
/// A worker appends to its own bounded ring and goes on. The writer sleeps until it is signalled, so an idle process does
/// not wake up. What does not fit is dropped, counted, and reported in the log itself. What the sink does not take (a full
/// disk) stays and is tried again with the next record; meanwhile the rings fill up and drop.
///
/// The lines of all workers are in the order in which their records were handed over. A request is judged before it is
/// answered, so the lines of one flow are in the order of its requests, on whatever workers they came.
public final class DecisionLog: Sendable {
  /// Bytes handed to the sink at once, about: bounds what the writer holds.
  private static let batch = 64 * 1024

  private let rings: [RecordRing]
  private let order = RecordOrder()
  private let signal: any WakeSignal
  private let metrics: MetricsRegistry
  /// Milliseconds since 1970, for lines about the log itself.
  private let now: @Sendable () -> Int64
  private let shouldStop = Atomic<Bool>(false)
  private let shouldReopen = Atomic<Bool>(false)
  /// The sink refused the last write: then every record wakes the writer, so that it tries again.
  private let isBlocked = Atomic<Bool>(false)

  /// - Parameters:
  ///   - capacity: records that wait per worker; about 300 bytes each.
  ///   - now: milliseconds since 1970.
  public init(
    workers: Int, capacity: Int = 4096, signal: any WakeSignal, metrics: MetricsRegistry,
    now: @escaping @Sendable () -> Int64
  ) {
    let order = order
    rings = (0..<workers).map { _ in RecordRing(capacity: capacity, order: order) }
    self.signal = signal
    self.metrics = metrics
    self.now = now
  }

  /// Hands a record over. Each worker uses its own index.
  public func append(_ record: DecisionRecord, worker: Int) {
    guard rings.indices.contains(worker) else { return }
    let outcome = rings[worker].append(record)
    // Counted here and not by the writer, which on a full disk may not come to it for days.
    if outcome == .dropped { metrics.logLinesDropped(1) }
    if outcome == .first || isBlocked.load(ordering: .relaxed) { signal.signal() }
  }

  /// Has the sink opened anew before the next line (SIGHUP, after the file was moved away).
  public func reopen() {
    shouldReopen.store(true, ordering: .releasing)
    signal.signal()
  }

  /// Has the writer write what there is and end.
  public func stop() {
    shouldStop.store(true, ordering: .releasing)
    signal.signal()
  }

  /// Starts the writer.
  /// - Parameters:
  ///   - spawn: starts a thread.
  ///   - onEnd: called on that thread after `stop`, when the last line was written.
  public func start<Sink: LogSink>(
    sink: consuming sending Sink, spawn: (@escaping @Sendable () -> Void) -> Void,
    onEnd: @escaping @Sendable () -> Void = {}
  ) {
    let writer = WriterBox(sink)
    spawn {
      writer.state.withLock { self.run(&$0) }
      onEnd()
    }
  }

  /// Holds the sink for the writer's thread, which locks it once and for as long as it lives.
  private final class WriterBox<Sink: LogSink>: Sendable {
    let state: Mutex<Writer<Sink>>

    init(_ sink: consuming sending Sink) {
      state = Mutex(Writer(sink: sink))
    }
  }

  private struct Writer<Sink: LogSink> {
    var sink: Sink
    var line = JSONLine()
    var merge = RecordMerge()
    /// Lines that found no room and are not reported yet.
    var dropped: UInt64 = 0
    /// The sink may have taken part of what it refused, so the next write begins a line.
    var isTorn = false
  }

  private func run<Sink: LogSink>(_ writer: inout Writer<Sink>) {
    while true {
      signal.wait()
      let isLast = shouldStop.load(ordering: .acquiring)
      let reopens = shouldReopen.exchange(false, ordering: .acquiringAndReleasing)
      // What was judged before the signal belongs into the old file.
      drain(&writer, isLast: isLast)
      if reopens { writer.sink.reopen() }
      if isLast { return }
    }
  }

  private func drain<Sink: LogSink>(_ writer: inout Writer<Sink>, isLast: Bool) {
    // What was refused before comes first; while the sink refuses, the rings hold the rest.
    guard flush(&writer), write(&writer) else { return }
    // Read before the first ring is taken; at the end nothing waits for another drain.
    writer.merge.begin(below: isLast ? .max : order.next)
    for ring in rings { writer.dropped += writer.merge.collect(ring) }
    writer.merge.arrange()
    guard write(&writer) else { return }
    // Records that came meanwhile may have found the writer awake and not signalled.
    if writer.merge.count > 0 { signal.signal() }
  }

  /// Writes the records of this drain, and how many had no room. Returns false once the sink refuses: what is not written
  /// by then stays.
  private func write<Sink: LogSink>(_ writer: inout Writer<Sink>) -> Bool {
    while let record = writer.merge.next() {
      record.write(to: &writer.line)
      if writer.line.bytes.count >= DecisionLog.batch, !flush(&writer) { return false }
    }
    if writer.dropped > 0 {
      writer.line.open()
      writer.line.field("time", Timestamp.text(now()))
      writer.line.field("event", "dropped")
      writer.line.field("lines", Int(clamping: writer.dropped))
      writer.line.close()
      writer.dropped = 0
    }
    return flush(&writer)
  }

  /// True if nothing is left to write.
  private func flush<Sink: LogSink>(_ writer: inout Writer<Sink>) -> Bool {
    guard !writer.line.bytes.isEmpty else { return true }
    let bytes = writer.isTorn ? [UInt8(ascii: "\n")] + writer.line.bytes : writer.line.bytes
    writer.isTorn = !writer.sink.write(bytes)
    isBlocked.store(writer.isTorn, ordering: .relaxed)
    guard !writer.isTorn else {
      metrics.logWriteFailed()
      return false
    }
    writer.line.clear()
    return true
  }
}
