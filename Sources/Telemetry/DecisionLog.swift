internal import Synchronization
public import Time

/// The decision log: one JSON line for each judged request, i.e. each request to which the rules were applied, and a few
/// lines about removed header fields and about lines that were dropped. One thread writes the lines.
///
/// A worker appends records to its own bounded buffer and does not wait. The writer thread sleeps until it is
/// signalled, so an idle process does not wake up. Records that do not fit into a buffer are dropped and counted, and a
/// line of the log reports their number. If the sink does not accept lines (e.g. because the disk is full), the writer
/// keeps them and tries again when the next record is appended; until then the buffers fill up and drop records.
///
/// The lines are in the order in which the workers appended the records. A record is appended before the request is
/// answered, so the lines of one sign-in are in the order of its requests, whichever workers handled them.
public final class DecisionLog: Sendable {
  /// The approximate number of bytes per write to the sink. It limits the memory that the writer uses.
  private static let batchLength = 64 * 1024

  private let buffers: [RecordBuffer]
  private let counter = SequenceCounter()
  private let signal: any WakeSignal
  private let metrics: MetricsRegistry
  /// Returns the current time, for lines about the log itself.
  private let now: @Sendable () -> Timestamp
  private let shouldStop = Atomic<Bool>(false)
  private let shouldReopen = Atomic<Bool>(false)
  /// True after a write to the sink has failed. Each new record then wakes the writer, so that the writer tries again.
  private let isBlocked = Atomic<Bool>(false)

  /// Creates a log that has one buffer for each worker. `start` starts the writer.
  ///
  /// - Parameters:
  ///   - capacity: the maximum number of records in a buffer, about 300 bytes each.
  ///   - now: returns the current time.
  public init(
    workers: Int, capacity: Int = 4096, signal: any WakeSignal, metrics: MetricsRegistry,
    now: @escaping @Sendable () -> Timestamp
  ) {
    let counter = counter
    buffers = (0..<workers).map { _ in RecordBuffer(capacity: capacity, counter: counter) }
    self.signal = signal
    self.metrics = metrics
    self.now = now
  }

  /// Appends a record to the buffer of a worker. Does nothing if there is no worker with this index. Each worker passes
  /// only its own index.
  public func append(_ record: DecisionRecord, worker: Int) {
    guard buffers.indices.contains(worker) else { return }
    let outcome = buffers[worker].append(record)
    // The record is counted here and not by the writer: while the disk is full, the writer may not run for days.
    if outcome == .dropped { metrics.logLinesDropped(1) }
    if outcome == .first || isBlocked.load(ordering: .relaxed) { signal.signal() }
  }

  /// Tells the writer to reopen the sink before the next line (SIGHUP, after the file was moved away).
  public func reopen() {
    shouldReopen.store(true, ordering: .releasing)
    signal.signal()
  }

  /// Tells the writer to write all remaining records and then to end.
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
    /// The number of records that the buffers dropped and that no line has reported yet.
    var dropped: UInt64 = 0
    /// True after a failed write. The sink may have written a part of a line, so the next write begins with a line end.
    var mayHavePartialLine = false
  }

  private func run<Sink: LogSink>(_ writer: inout Writer<Sink>) {
    while true {
      signal.wait()
      let isLast = shouldStop.load(ordering: .acquiring)
      let reopens = shouldReopen.exchange(false, ordering: .acquiringAndReleasing)
      // Records that were appended before the signal belong to the old file.
      drain(&writer, isLast: isLast)
      if reopens { writer.sink.reopen() }
      if isLast { return }
    }
  }

  private func drain<Sink: LogSink>(_ writer: inout Writer<Sink>, isLast: Bool) {
    // Lines of an earlier, failed write come first. As long as the sink fails, newer records stay in the buffers.
    guard flush(&writer), write(&writer) else { return }
    // The end of this drain (see `RecordMerge`) is read before the first buffer is emptied. The last drain has no end,
    // because no drain follows it.
    writer.merge.begin(below: isLast ? .max : counter.next)
    for buffer in buffers { writer.dropped += writer.merge.collect(buffer) }
    writer.merge.sort()
    guard write(&writer) else { return }
    // Records at or above the end are left for the next drain. Their workers may have sent their signals already.
    if writer.merge.count > 0 { signal.signal() }
  }

  /// Writes the records of this drain and the number of dropped records. Returns false if the sink fails; the remaining
  /// records are then kept.
  private func write<Sink: LogSink>(_ writer: inout Writer<Sink>) -> Bool {
    while let record = writer.merge.next() {
      record.write(to: &writer.line)
      if writer.line.bytes.count >= DecisionLog.batchLength, !flush(&writer) { return false }
    }
    if writer.dropped > 0 {
      writer.line.open()
      writer.line.appendMember("time", now().text)
      writer.line.appendMember("event", "dropped")
      writer.line.appendMember("lines", Int(clamping: writer.dropped))
      writer.line.close()
      writer.dropped = 0
    }
    return flush(&writer)
  }

  /// Writes the buffered lines to the sink. Returns true if nothing remains to be written.
  private func flush<Sink: LogSink>(_ writer: inout Writer<Sink>) -> Bool {
    guard !writer.line.bytes.isEmpty else { return true }
    let bytes = writer.mayHavePartialLine ? [UInt8(ascii: "\n")] + writer.line.bytes : writer.line.bytes
    writer.mayHavePartialLine = !writer.sink.write(bytes)
    isBlocked.store(writer.mayHavePartialLine, ordering: .relaxed)
    guard !writer.mayHavePartialLine else {
      metrics.logWriteFailed()
      return false
    }
    writer.line.clear()
    return true
  }
}
