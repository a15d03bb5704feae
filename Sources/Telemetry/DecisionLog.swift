internal import Synchronization

/// The decision log: one JSON line per judged request, written by one thread.
///
/// A worker appends to its own bounded ring and goes on. The writer sleeps until it is signalled, so an idle process does
/// not wake up. What does not fit is dropped, counted, and reported in the log itself. What the sink does not take (a full
/// disk) stays and is tried again with the next record; meanwhile the rings fill up and drop.
public final class DecisionLog: Sendable {
  /// Bytes handed to the sink at once, about: bounds what the writer holds.
  private static let batch = 64 * 1024

  private let rings: [RecordRing]
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
    rings = (0..<workers).map { _ in RecordRing(capacity: capacity) }
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
    var records: [DecisionRecord] = []
    /// The sink may have taken part of what it refused, so the next write begins a line.
    var isTorn = false
  }

  private func run<Sink: LogSink>(_ writer: inout Writer<Sink>) {
    while true {
      signal.wait()
      let isLast = shouldStop.load(ordering: .acquiring)
      let reopens = shouldReopen.exchange(false, ordering: .acquiringAndReleasing)
      // What was judged before the signal belongs into the old file.
      drain(&writer)
      if reopens { writer.sink.reopen() }
      if isLast { return }
    }
  }

  private func drain<Sink: LogSink>(_ writer: inout Writer<Sink>) {
    // What was refused before comes first; while the sink refuses, the rings hold the rest.
    guard flush(&writer) else { return }
    for ring in rings {
      let dropped = ring.take(&writer.records)
      for record in writer.records {
        record.write(to: &writer.line)
        // A failure keeps this batch; the loop goes on, so the batch may grow by the rest of one ring.
        if writer.line.bytes.count >= DecisionLog.batch, !writer.isTorn { _ = flush(&writer) }
      }
      if dropped > 0 {
        writer.line.open()
        writer.line.field("time", Timestamp.text(now()))
        writer.line.field("event", "dropped")
        writer.line.field("lines", Int(clamping: dropped))
        writer.line.close()
      }
      guard flush(&writer) else { return }
    }
  }

  /// Whether nothing is left to write.
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
