internal import Synchronization
public import Time

/// The decision log. It contains one JSON line for each judged request (a request to which rules were applied). Other
/// lines report removed header fields, authorization responses that were observed on paths that are not endpoints, and
/// the number of dropped lines.
///
/// Each worker appends records to its own buffer and does not wait. One thread, the writer, empties the buffers and
/// writes the lines. It sleeps until it is signalled, so an idle process does not wake up. If a buffer is full, new
/// records are dropped, and a line of the log reports their number. If the sink does not accept lines (e.g. because the
/// disk is full), the writer keeps the lines and tries again when the next record is appended. Until a write succeeds,
/// the writer does not empty the buffers.
///
/// The lines are in the order in which the workers appended the records. A record is appended before the response to
/// its request is sent. So the lines of one sign-in are in the order of its requests, even if several workers handled
/// them.
public final class DecisionLog: Sendable {
  /// The approximate number of bytes per write to the sink. It limits the memory that the writer uses.
  private static let batchLength = 64 * 1024
  /// The time after which the writer tries again to move lines from the spool to their destination.
  private static let retryInterval: Milliseconds = 500

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
  ///   - capacity: The maximum number of records in a buffer. A record has about 300 bytes.
  ///   - signal: Wakes the writer.
  ///   - metrics: Counts dropped lines and failed writes.
  ///   - now: Returns the current time.
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

  /// Appends a record to the buffer of the worker with this index. Does nothing if there is no such worker. Each worker
  /// passes only its own index. A thread that is no worker may pass any index, which only affects its room.
  ///
  /// - Parameter isKept: True if room was reserved for the record (`reserve`), so that it is not dropped.
  public func append(_ record: DecisionRecord, worker: Int, isKept: Bool = false) {
    guard buffers.indices.contains(worker) else { return }
    let outcome = buffers[worker].append(record, isKept: isKept)
    // A dropped record is counted here and not by the writer, which may not run for days if the disk is full.
    if outcome == .dropped { metrics.logLinesDropped(1) }
    // The first record of an empty buffer wakes the writer. After a failed write, each record does.
    if outcome == .first || isBlocked.load(ordering: .relaxed) { signal.signal() }
  }

  /// Reserves room for the record of a request that begins in the buffer of a worker. Returns false if there is none:
  /// the lines of earlier requests cannot be written at present. `release` ends the reservation.
  public func reserve(worker: Int) -> Bool {
    guard buffers.indices.contains(worker) else { return false }
    let isReserved = buffers[worker].reserve()
    // After a failed write, the writer tries again.
    if !isReserved { signal.signal() }
    return isReserved
  }

  /// Ends a reservation, after the record was appended.
  public func release(worker: Int) {
    guard buffers.indices.contains(worker) else { return }
    buffers[worker].release()
  }

  /// Tells the writer to reopen the sink, after it has written the records that were appended before this call. Used on
  /// SIGHUP, when the log file has been moved away.
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
  ///   - sink: The destination of the lines.
  ///   - spawn: Runs its argument on a new thread.
  ///   - onEnd: Called on that thread after `stop`, when the last line has been written.
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
    var lines = JSONLines()
    var merge = RecordMerge()
    /// The number of records that the buffers dropped and that no line has reported yet.
    var dropped: UInt64 = 0
    /// True after a failed write. The sink may then end with a part of a line, so the next write begins with a line
    /// end.
    var mayEndWithPartialLine = false
  }

  private func run<Sink: LogSink>(_ writer: inout Writer<Sink>) {
    while true {
      if writer.sink.hasBacklog {
        signal.wait(atMost: DecisionLog.retryInterval)
        writer.sink.retry()
      } else {
        signal.wait()
      }
      let isLastPass = shouldStop.load(ordering: .acquiring)
      let reopens = shouldReopen.exchange(false, ordering: .acquiringAndReleasing)
      // Records that were appended before the signal belong to the old file.
      drainBuffers(&writer, isLastPass: isLastPass)
      if reopens { writer.sink.reopen() }
      if isLastPass { return }
    }
  }

  private func drainBuffers<Sink: LogSink>(_ writer: inout Writer<Sink>, isLastPass: Bool) {
    // The lines of a failed write are written first. As long as the sink fails, newer records stay in the buffers.
    guard flush(&writer), writeRecords(&writer) else { return }
    // The limit of this pass (see `RecordMerge`) is read before the first buffer is emptied. The last pass writes all
    // records.
    writer.merge.beginPass(below: isLastPass ? .max : counter.next)
    for buffer in buffers { writer.dropped += writer.merge.collect(buffer) }
    writer.merge.sort()
    guard writeRecords(&writer) else { return }
    // Records at or above the limit remain for the next pass. Their workers may have sent the signal already, so the
    // writer signals itself.
    if writer.merge.unwrittenCount > 0 { signal.signal() }
  }

  /// Writes the records of this pass and the number of dropped records. If the sink fails, keeps the remaining records
  /// and returns false. Inlined, because each generic function looks up the type of `Writer` first.
  @inline(__always)
  private func writeRecords<Sink: LogSink>(_ writer: inout Writer<Sink>) -> Bool {
    while let record = writer.merge.next() {
      record.write(to: &writer.lines)
      if writer.lines.bytes.count >= DecisionLog.batchLength, !flush(&writer) { return false }
    }
    if writer.dropped > 0 {
      writer.lines.beginLine()
      writer.lines.appendMember("time", now())
      writer.lines.appendMember("event", "dropped")
      writer.lines.appendMember("lines", Int(clamping: writer.dropped))
      writer.lines.endLine()
      writer.dropped = 0
    }
    return flush(&writer)
  }

  /// Writes the collected lines to the sink. Returns false if the sink fails. Inlined for the same reason.
  @inline(__always)
  private func flush<Sink: LogSink>(_ writer: inout Writer<Sink>) -> Bool {
    guard !writer.lines.bytes.isEmpty else { return true }
    let bytes = writer.mayEndWithPartialLine ? [UInt8(ascii: "\n")] + writer.lines.bytes : writer.lines.bytes
    writer.mayEndWithPartialLine = !writer.sink.write(bytes)
    isBlocked.store(writer.mayEndWithPartialLine, ordering: .relaxed)
    guard !writer.mayEndWithPartialLine else {
      metrics.logWriteFailed()
      return false
    }
    writer.lines.clear()
    return true
  }
}
