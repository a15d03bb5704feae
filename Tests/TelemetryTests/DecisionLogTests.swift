import Testing
import Time

@testable import Telemetry

@Suite("The decision log")
struct DecisionLogTests {
  private let sink = FakeSink()
  private let signal = ScriptedSignal()
  private let metrics = MetricsRegistry(workers: 2, policyVersion: "v1")

  private func record(_ client: String? = "mail") -> DecisionRecord {
    DecisionRecord(
      time: 1_795_000_000_123, endpoint: .token, client: client, decision: .forward, status: 200, mode: "enforce",
      durationNanoseconds: 1_234_567, peer: "192.0.2.1", policyVersion: "v1")
  }

  private func log(capacity: Int = 100) -> DecisionLog {
    DecisionLog(workers: 2, capacity: capacity, signal: signal, metrics: metrics, now: { 1_795_000_001_000 })
  }

  /// Runs the writer on this thread: each of its turns runs a step of the test first, and the last step is `stop`.
  private func run(_ log: DecisionLog, _ steps: (@Sendable () -> Void)...) {
    signal.script(steps) { log.stop() }
    let sink = sink
    log.start(sink: sink, spawn: { body in body() }, onEnd: { sink.end() })
    #expect(sink.ended == 1)
    // The script references the log, which references the signal: break the cycle.
    signal.script([]) {}
  }

  @Test("A record is one line of JSON with every known field")
  func fullRecord() {
    let log = log()
    let full = DecisionRecord(
      time: 1_795_000_000_123, request: "AAECAwQFBgcICQoLDA0ODw", transaction: "000102030405060708090a0b0c0d0e0f",
      endpoint: .token, client: "mail",
      decision: .reject, rule: "pkce-verifier-mismatch", status: 400, mode: "enforce",
      findings: ["state-missing", "localhost"], redirectKind: "loopback", path: "/token/*", upstreamStatus: 502,
      durationNanoseconds: 1_234_567, peer: "192.0.2.1", policyVersion: "v1")
    log.append(full, worker: 0)
    log.append(record(nil), worker: 1)
    run(log)
    #expect(
      sink.text == """
        {"v":1,"time":"2026-11-18T11:06:40.123Z","event":"decision","request":"AAECAwQFBgcICQoLDA0ODw",\
        "transaction":"000102030405060708090a0b0c0d0e0f","endpoint":"token","client":"mail","decision":"reject","rule":"pkce-verifier-mismatch","status":400,\
        "mode":"enforce","findings":["state-missing","localhost"],"redirect":"loopback","path":"/token/*","upstream_status":502,\
        "duration_us":1234,"peer":"192.0.2.1","policy":"v1"}
        {"v":1,"time":"2026-11-18T11:06:40.123Z","event":"decision","endpoint":"token","decision":"forward","status":200,\
        "mode":"enforce","duration_us":1234,"peer":"192.0.2.1","policy":"v1"}

        """)
  }

  @Test("6749-10.14-sanitise: no text ends a line or its string")
  func escaping() {
    let log = log()
    log.append(record("a\r\nb\"\\\t\u{0}\u{1b}\u{7f}\u{85}\u{2028}\u{2029}é🔑"), worker: 0)
    run(log)
    #expect(
      sink.text.contains(
        #""client":"a\r\nb\"\\\t\u0000\u001b\u007f\u0085\u2028\u2029é🔑","#))
    #expect(sink.text.utf8.count { $0 == UInt8(ascii: "\n") } == 1)
    #expect(sink.text.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 })
  }

  @Test("A client id of the maximum length of a request is truncated")
  func cutting() {
    let log = log()
    log.append(record(String(repeating: "é", count: 10_000)), worker: 0)
    run(log)
    #expect(sink.text.utf8.count < 1000)
    #expect(sink.text.contains("é...\""))
  }

  @Test("Reservations take room, and a record with a reservation is never dropped")
  func reservations() {
    let log = log(capacity: 3)
    log.append(record("a"), worker: 0)
    #expect(log.reserve(worker: 0) && log.reserve(worker: 0))
    #expect(!log.reserve(worker: 0))
    #expect(log.reserve(worker: 1) && !log.reserve(worker: 2))
    // A request may append more than one record.
    for client in ["b", "c", "d", "e"] { log.append(record(client), worker: 0, isKept: true) }
    log.append(record("dropped"), worker: 0)
    log.release(worker: 0)
    log.release(worker: 0)
    #expect(!log.reserve(worker: 0))
    run(log)
    #expect(log.reserve(worker: 0))
    #expect(sink.lines.filter { $0.contains(#""event":"decision""#) }.count == 5)
    #expect(sink.lines.contains { $0.contains(#""event":"dropped","lines":1"#) })
  }

  @Test("Records that do not fit into a ring are counted, in the metric and in the log itself")
  func overflow() {
    let log = log(capacity: 10)
    for _ in 0..<15 { log.append(record(), worker: 0) }
    for _ in 0..<3 { log.append(record(), worker: 1) }
    run(log)
    #expect(sink.lines.count == 14)
    #expect(sink.lines[13] == #"{"time":"2026-11-18T11:06:41.000Z","event":"dropped","lines":5}"#)
    #expect(metrics.snapshot().logLinesDropped == 5)
  }

  @Test("The writer is woken once for many records, and not without records")
  func waking() {
    let log = log()
    #expect(signal.signals == 0)
    for _ in 0..<50 { log.append(record(), worker: 0) }
    #expect(signal.signals == 1)
    run(log)
    #expect(sink.lines.count == 50)
    #expect(sink.writes == 1)
  }

  @Test("A full disk loses no record that fits into a ring, and the log continues when there is room again")
  func fullDisk() {
    let log = log(capacity: 10)
    let sink = sink
    let signal = signal
    let metrics = metrics
    let record = record()
    sink.setRefuses(true)
    log.append(record, worker: 0)
    run(
      log, {},
      {
        #expect(metrics.snapshot().logWriteFailures == 1)
        let before = signal.signals
        // While the sink refuses, every record wakes the writer for another attempt.
        for _ in 0..<12 { log.append(record, worker: 0) }
        #expect(signal.signals == before + 12)
        // Lost records are counted at once, however long the disk stays full.
        #expect(metrics.snapshot().logLinesDropped == 2)
      },
      { sink.setRefuses(false) })
    // The line that was cut is complete again; ten more lines and the report of two dropped ones follow.
    let whole = sink.lines.filter { $0.hasPrefix("{") && $0.hasSuffix("}") }
    #expect(whole.count == 12)
    #expect(whole.last == #"{"time":"2026-11-18T11:06:41.000Z","event":"dropped","lines":2}"#)
    #expect(metrics.snapshot().logWriteFailures == 2)
    #expect(metrics.snapshot().logLinesDropped == 2)
  }

  @Test("The sink is reopened on request, before the next line")
  func reopening() {
    let log = log()
    log.reopen()
    run(log)
    #expect(sink.reopened == 1)
  }

  @Test("A long log is written in pieces")
  func batches() {
    let log = log(capacity: 5000)
    for _ in 0..<5000 { log.append(record(), worker: 0) }
    run(log)
    #expect(sink.lines.count == 5000)
    #expect(sink.writes > 5)
  }

  private var clients: [Substring] {
    sink.lines.compactMap { line in
      line.firstRange(of: "\"client\":\"").map { line[$0.upperBound...].prefix { $0 != "\"" } }
    }
  }

  @Test("The lines of all workers are in the order in which their records were handed over")
  func order() {
    let log = DecisionLog(workers: 3, capacity: 100, signal: signal, metrics: metrics, now: { 0 })
    let expected = (0..<60).map { "c\($0)" }
    for number in expected.indices { log.append(record(expected[number]), worker: [2, 0, 1, 1, 0][number % 5]) }
    run(log)
    #expect(clients == expected.map { $0[...] })
  }

  @Test("The order is kept across drains, and after a time without room on the disk")
  func orderAcrossDrains() {
    let log = log()
    let sink = sink
    let records = (0..<30).map { record("c\($0)") }
    let append: @Sendable (Range<Int>) -> Void = { range in
      for number in range { log.append(records[number], worker: number % 2) }
    }
    append(0..<10)
    run(
      log, {},
      {
        append(10..<20)
        sink.setRefuses(true)
      },
      { append(20..<30) },
      { sink.setRefuses(false) })
    // The line at which the sink began to refuse may be cut.
    let whole = clients
    #expect(Set(whole) == Set(records.compactMap { $0.client?[...] }))
    let places = whole.compactMap { Int($0.dropFirst()) }
    #expect(Array(places.suffix(20)) == Array(10..<30))
  }

  @Test("A record waits if an earlier one may be in a ring that was already collected")
  func end() {
    let counter = SequenceCounter()
    let early = RecordBuffer(capacity: 10, counter: counter)
    let late = RecordBuffer(capacity: 10, counter: counter)
    var merge = RecordMerge()
    _ = late.append(record("first"))
    merge.beginPass(below: counter.next)
    #expect(merge.collect(early) == 0)
    // Between the two rings a flow moves from one worker to the other.
    _ = early.append(record("second"))
    _ = late.append(record("third"))
    #expect(merge.collect(late) == 0)
    merge.sort()
    #expect(merge.next()?.client == "first")
    #expect(merge.next() == nil)
    #expect(merge.unwrittenCount == 1)
    merge.beginPass(below: counter.next)
    _ = merge.collect(early)
    _ = merge.collect(late)
    merge.sort()
    #expect(merge.next()?.client == "second")
    #expect(merge.next()?.client == "third")
    #expect(merge.next() == nil)
    #expect(merge.unwrittenCount == 0)
  }

  @Test("A record for a worker that does not exist is ignored")
  func unknownWorker() {
    let log = log()
    log.append(record(), worker: 9)
    run(log)
    #expect(sink.text.isEmpty)
  }
}
