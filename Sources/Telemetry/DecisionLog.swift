internal import Synchronization

/// The decision log: one JSON line for each judged request, written by one thread.
///
/// A worker appends to its own bounded ring and continues. The writer sleeps until it is signalled, so an idle process
/// does not wake up. Records that do not fit into a ring are dropped, counted, and reported in the log itself. Lines
/// that the sink does not accept (a full disk) are kept and written again with the next record; until then the rings
/// fill up and drop records.
///
/// The lines of all workers are in the order in which the workers appended the records. A request is judged before it
/// is answered, so the lines of one flow are in the order of its requests, whichever workers handled them.
public final class DecisionLog: Sendable {
  /// The approximate number of bytes per write to the sink; limits the memory that the writer uses.
  private static let batch = 64 * 1024

  private let rings: [RecordRing]
  private let order = RecordOrder()
  private let signal: any WakeSignal
  private let metrics: MetricsRegistry
  /// Returns milliseconds since 1970, for lines about the log itself.
  private let now: @Sendable () -> Int64
  private let shouldStop = Atomic<Bool>(false)
  private let shouldReopen = Atomic<Bool>(false)
  /// True after the sink has failed a write. Each new record then wakes the writer, so that the writer tries again.
  private let isBlocked = Atomic<Bool>(false)

  /// Creates a log that has one ring for each worker; `start` begins to write it.
  ///
  /// - Parameters:
  ///   - capacity: the number of records that a ring holds, about 300 bytes each.
  ///   - now: returns milliseconds since 1970.
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

  /// Appends a record to the ring of a worker; does nothing if the index is unknown. Each worker uses only its own
  /// index.
  public func append(_ record: DecisionRecord, worker: Int) {
    guard rings.indices.contains(worker) else { return }
    let outcome = rings[worker].append(record)
    // Counted here and not by the writer: on a full disk, the writer may not reach this count for days.
    if outcome == .dropped { metrics.logLinesDropped(1) }
    if outcome == .first || isBlocked.load(ordering: .relaxed) { signal.signal() }
  }

  /// Tells the writer to reopen the sink before the next line (SIGHUP, after the file was moved away).
  public func reopen() {
    shouldReopen.store(true, ordering: .releasing)
    signal.signal()
  }

  /// Tells the writer to write all remaining records and to end.
  public func stop() {
    shouldStop.store(true, ordering: .releasing)
    signal.signal()
  }

  /// Starts the writer thread.
  ///
  /// - Parameters:
  ///   - sink: receives the lines.
  ///   - spawn: runs the closure that it gets on a new thread.
  ///   - onEnd: called on that thread after `stop`, once the last line has been written.
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

  /// Holds the sink for the writer thread, which takes the lock once and keeps it until the thread ends.
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
    /// The number of records that the rings dropped and that no line has reported yet.
    var dropped: UInt64 = 0
    /// True after a failed write: the sink may have written a part of it, so the next write begins with a line end.
    var isTorn = false
  }

  private func run<Sink: LogSink>(_ writer: inout Writer<Sink>) {
    while true {
      signal.wait()
      let isLast = shouldStop.load(ordering: .acquiring)
      let reopens = shouldReopen.exchange(false, ordering: .acquiringAndReleasing)
      // Records from before the signal belong into the old file.
      drain(&writer, isLast: isLast)
      if reopens { writer.sink.reopen() }
      if isLast { return }
    }
  }

  private func drain<Sink: LogSink>(_ writer: inout Writer<Sink>, isLast: Bool) {
    // Lines of an earlier, failed write come first. While the sink fails, the rings keep the newer records.
    guard flush(&writer), write(&writer) else { return }
    // The end is read before the first ring is emptied. The last drain has no end, because no drain follows it.
    writer.merge.begin(below: isLast ? .max : order.next)
    for ring in rings { writer.dropped += writer.merge.collect(ring) }
    writer.merge.arrange()
    guard write(&writer) else { return }
    // A record that was appended meanwhile may have found the writer awake and sent no signal.
    if writer.merge.count > 0 { signal.signal() }
  }

  /// Writes the records of this drain and the number of dropped ones. Returns false once the sink fails; the remaining
  /// records are then kept.
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

  /// Writes the buffered lines to the sink. Returns true if nothing remains to be written.
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
