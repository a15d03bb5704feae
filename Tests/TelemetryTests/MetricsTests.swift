import Telemetry
import Testing
import Time

@Suite("Metrics")
struct MetricsTests {
  private let registry = MetricsRegistry(workers: 2, policyVersion: "3fa9")

  private func render(_ facts: ProcessFacts = ProcessFacts()) -> String {
    PrometheusText.render(registry.snapshot(), process: facts, version: "0.1.0", startTime: 1_795_000_000_120)
  }

  private func lines(_ name: String) -> [Substring] {
    render().split(separator: "\n").filter { $0.hasPrefix(name) }
  }

  @Test("Requests of all workers are summed by handling and by status class")
  func requests() {
    registry.workers[0].requestFinished(.pass, status: 200, durationNanoseconds: 300_000)
    registry.workers[1].requestFinished(.pass, status: 404, durationNanoseconds: 100_000)
    registry.workers[1].requestFinished(.answer, status: 302, durationNanoseconds: 20_000_000_000)
    registry.workers[1].requestFinished(.refuse, status: 0, durationNanoseconds: 0)
    #expect(
      lines("proofgate_requests_total") == [
        #"proofgate_requests_total{handling="pass"} 2"#, #"proofgate_requests_total{handling="forward"} 0"#,
        #"proofgate_requests_total{handling="answer"} 1"#, #"proofgate_requests_total{handling="refuse"} 1"#,
      ])
    #expect(
      lines("proofgate_responses_total") == [
        #"proofgate_responses_total{class="none"} 1"#, #"proofgate_responses_total{class="1xx"} 0"#,
        #"proofgate_responses_total{class="2xx"} 1"#, #"proofgate_responses_total{class="3xx"} 1"#,
        #"proofgate_responses_total{class="4xx"} 1"#, #"proofgate_responses_total{class="5xx"} 0"#,
      ])
  }

  @Test("The store is measured when metrics are collected, by kind")
  func store() {
    registry.setStoreMeasurement {
      [StoreSeries(kind: "family", entries: 3, bytes: 339, share: 1_000, evictions: 4, refusals: 5)]
    }
    #expect(lines("proofgate_store_entries") == [#"proofgate_store_entries{kind="family"} 3"#])
    #expect(lines("proofgate_store_bytes") == [#"proofgate_store_bytes{kind="family"} 339"#])
    #expect(lines("proofgate_store_share_bytes") == [#"proofgate_store_share_bytes{kind="family"} 1000"#])
    #expect(lines("proofgate_store_evictions_total") == [#"proofgate_store_evictions_total{kind="family"} 4"#])
    #expect(lines("proofgate_store_refusals_total") == [#"proofgate_store_refusals_total{kind="family"} 5"#])
  }

  @Test("The functions that measure the store do not grow with each collection of the metrics")
  func manyCollections() {
    registry.setStoreActivityMeasurement { nil }
    // A function that is wrapped once more at each access needs more stack than a thread has.
    for _ in 0..<100_000 { _ = registry.currentStoreActivity }
    #expect(registry.snapshot().storeActivity == nil)
  }

  @Test("A store that counts its entries has the age of the count, and no shares")
  func storeCount() {
    #expect(lines("proofgate_store_count_age_seconds").isEmpty)
    registry.setStoreMeasurement {
      [StoreSeries(kind: "family", entries: 3, bytes: 339, share: nil, evictions: 0, refusals: 0)]
    }
    registry.setStoreCountMeasurement { StoreCountSeries(age: 75, problem: nil) }
    #expect(lines("proofgate_store_entries") == [#"proofgate_store_entries{kind="family"} 3"#])
    #expect(lines("proofgate_store_bytes") == [#"proofgate_store_bytes{kind="family"} 339"#])
    #expect(lines("proofgate_store_count_age_seconds") == ["proofgate_store_count_age_seconds 75"])
    for name in ["share_bytes", "evictions_total", "refusals_total"] {
      #expect(lines("proofgate_store_\(name)").isEmpty)
    }
    registry.setStoreCountMeasurement { StoreCountSeries(age: nil, problem: "NOPERM") }
    #expect(lines("proofgate_store_count_age_seconds").isEmpty)
  }

  @Test("A store in a file or server has its engine, epoch, outage, durations and failures, and memory has no series")
  func storeActivity() {
    #expect(lines("proofgate_store_available").isEmpty)
    registry.setStoreActivityMeasurement {
      StoreActivitySeries(
        engine: "file", epoch: "00000000000000ff", outage: "the disk is full",
        buckets: [2] + [UInt64](repeating: 0, count: 19) + [1], nanoseconds: 1_500_000_000,
        failures: [.init(reason: "timeout", count: 3)])
    }
    #expect(
      lines("proofgate_store_info") == [#"proofgate_store_info{engine="file",epoch="00000000000000ff"} 1"#])
    #expect(lines("proofgate_store_available") == ["proofgate_store_available 0"])
    #expect(lines("proofgate_store_errors_total") == [#"proofgate_store_errors_total{reason="timeout"} 3"#])
    let histogram = lines("proofgate_store_operation_seconds")
    #expect(histogram.first == #"proofgate_store_operation_seconds_bucket{le="0.0001"} 2"#)
    #expect(histogram.contains("proofgate_store_operation_seconds_sum 1.5"))
    #expect(histogram.last == "proofgate_store_operation_seconds_count 3")
  }

  @Test("Histograms are cumulative, with a sum in seconds")
  func histograms() {
    let worker = registry.workers[0]
    worker.upstreamAnswered(nanoseconds: 100_000)
    worker.upstreamAnswered(nanoseconds: 100_001)
    worker.upstreamAnswered(nanoseconds: 11_000_000_000)
    registry.workers[1].upstreamAnswered(nanoseconds: 10_000_000_000)
    let histogram = lines("proofgate_upstream_response_seconds")
    #expect(histogram.count == 23)
    #expect(histogram[0] == #"proofgate_upstream_response_seconds_bucket{le="0.0001"} 1"#)
    #expect(histogram[1] == #"proofgate_upstream_response_seconds_bucket{le="0.00025"} 2"#)
    #expect(histogram[14] == #"proofgate_upstream_response_seconds_bucket{le="5"} 2"#)
    #expect(histogram[15] == #"proofgate_upstream_response_seconds_bucket{le="10"} 3"#)
    #expect(histogram[16] == #"proofgate_upstream_response_seconds_bucket{le="30"} 4"#)
    #expect(histogram[20] == #"proofgate_upstream_response_seconds_bucket{le="+Inf"} 4"#)
    #expect(histogram[21] == "proofgate_upstream_response_seconds_sum 21.000200001")
    #expect(histogram[22] == "proofgate_upstream_response_seconds_count 4")
  }

  @Test("The bound of each bucket is the one in its label")
  func bounds() throws {
    let bounds: [(UInt64, String)] = [
      (100_000, "0.0001"), (250_000, "0.00025"), (500_000, "0.0005"), (1_000_000, "0.001"), (2_500_000, "0.0025"),
      (5_000_000, "0.005"), (10_000_000, "0.01"), (25_000_000, "0.025"), (50_000_000, "0.05"), (100_000_000, "0.1"),
      (250_000_000, "0.25"), (500_000_000, "0.5"), (1_000_000_000, "1"), (2_500_000_000, "2.5"), (5_000_000_000, "5"),
      (10_000_000_000, "10"), (30_000_000_000, "30"), (60_000_000_000, "60"), (120_000_000_000, "120"),
      (300_000_000_000, "300"),
    ]
    for (index, bound) in bounds.enumerated() {
      registry.workers[0].upstreamAnswered(nanoseconds: bound.0)
      let line = #"proofgate_upstream_response_seconds_bucket{le="\#(bound.1)"} \#(index + 1)"#
      #expect(lines("proofgate_upstream_response_seconds_bucket").contains { $0 == line })
    }
  }

  @Test("Open connections are gauges, and opened connections are counters")
  func connections() {
    let worker = registry.workers[0]
    for _ in 0..<5 { worker.connectionAccepted() }
    worker.connectionClosed()
    for _ in 0..<3 { worker.upstreamConnectionOpened() }
    worker.upstreamConnectionClosed()
    #expect(
      lines("proofgate_connections") == [
        "proofgate_connections_accepted_total 5", "proofgate_connections 4",
      ])
    #expect(
      lines("proofgate_upstream_connections") == [
        "proofgate_upstream_connections_opened_total 3", "proofgate_upstream_connections 2",
      ])
  }

  @Test("Token checks and fetches of documents are summed over the workers, by outcome, and absent before the first")
  func checksAndFetches() {
    #expect(lines("proofgate_token_checks_total").isEmpty)
    #expect(lines("proofgate_client_document_fetches_total").isEmpty)
    for worker in registry.workers {
      worker.tokenChecked(.active, at: .check)
      worker.documentFetched(.lookUp)
    }
    registry.workers[1].tokenChecked(.otherResource, at: .introspection)
    registry.workers[1].documentFetched(.ok)
    #expect(
      lines("proofgate_token_checks_total") == [
        #"proofgate_token_checks_total{endpoint="introspection",outcome="other-resource"} 1"#,
        #"proofgate_token_checks_total{endpoint="check",outcome="active"} 2"#,
      ])
    #expect(
      lines("proofgate_client_document_fetches_total") == [
        #"proofgate_client_document_fetches_total{outcome="ok"} 1"#,
        #"proofgate_client_document_fetches_total{outcome="look-up"} 2"#,
      ])
  }

  @Test("Dropped identity fields are one counter for all workers")
  func identityFields() {
    for worker in registry.workers { worker.identityFieldDropped() }
    #expect(lines("proofgate_identity_fields_dropped_total") == ["proofgate_identity_fields_dropped_total 2"])
  }

  @Test("Paused listeners are a gauge, and each pause is counted")
  func pauses() {
    for worker in registry.workers { worker.acceptingPaused() }
    registry.workers[0].acceptingResumed()
    #expect(lines("proofgate_listeners_paused") == ["proofgate_listeners_paused 1"])
    #expect(lines("proofgate_accept_pauses_total") == ["proofgate_accept_pauses_total 2"])
    registry.workers[1].acceptingResumed()
    #expect(lines("proofgate_listeners_paused") == ["proofgate_listeners_paused 0"])
  }

  @Test("Each certificate in use has its expiry once, and a removed certificate has no series")
  func certificates() {
    #expect(lines("proofgate_certificate_expiry_timestamp_seconds").isEmpty)
    let old = CertificateExpiry(listener: "[::]:443", name: "gw.example", fingerprint: "0bf5", end: 1_800_000_000)
    let new = CertificateExpiry(listener: "[::]:443", name: "gw.example", fingerprint: "082f", end: 1_900_000_000)
    registry.setCertificates([old])
    registry.setCertificates([new, new])
    #expect(
      lines("proofgate_certificate_expiry_timestamp_seconds") == [
        #"proofgate_certificate_expiry_timestamp_seconds{listener="[::]:443",name="gw.example",fingerprint="082f"} 1900000000"#
      ])
  }

  @Test("Upstream errors are counted by kind", arguments: UpstreamErrorKind.allCases)
  func upstreamErrors(kind: UpstreamErrorKind) {
    registry.workers[1].upstreamFailed(kind)
    for line in lines("proofgate_upstream_errors_total") {
      #expect(line.hasSuffix(line.contains("\"\(kind.rawValue)\"") ? " 1" : " 0"))
    }
  }

  @Test("Decisions are counted by endpoint, client, rule and decision, over all workers")
  func decisions() {
    for worker in registry.workers {
      worker.decide(.reject, at: .authorization, client: "mail", rule: "pkce-required")
    }
    registry.workers[0].decide(.forward, client: "mail")
    registry.workers[0].decide(.reject, at: .authorization, client: "x", isListed: false, rule: "client-unknown")
    registry.workers[0].decide(.wouldReject, at: .authorization, client: "a\"b\\c\nd", rule: "state-required")
    #expect(
      lines("proofgate_decisions_total") == [
        #"proofgate_decisions_total{endpoint="authorization",client="a\"b\\c\nd",rule="state-required",decision="would_reject"} 1"#,
        #"proofgate_decisions_total{endpoint="authorization",client="mail",rule="pkce-required",decision="reject"} 2"#,
        #"proofgate_decisions_total{endpoint="authorization",client="unknown",rule="client-unknown",decision="reject"} 1"#,
        #"proofgate_decisions_total{endpoint="token",client="mail",rule="",decision="forward"} 1"#,
      ])
  }

  @Test("Findings are counted by client and name without their details, and those of observe mode by rule")
  func findings() {
    let worker = registry.workers[0]
    worker.decide(.forward, client: "mail", findings: ["state-missing", "redirect-uri-differs:2:17"])
    worker.decide(.forward, client: nil, findings: ["would-reject:pkce-required", "identity-field-dropped:x-real-ip"])
    registry.workers[1].decide(.forward, client: nil, findings: ["would-reject:pkce-required", "state-missing"])
    worker.decide(.forward, client: "silent")
    #expect(
      lines("proofgate_findings_total") == [
        #"proofgate_findings_total{client="mail",finding="redirect-uri-differs",rule=""} 1"#,
        #"proofgate_findings_total{client="mail",finding="state-missing",rule=""} 1"#,
        #"proofgate_findings_total{client="unknown",finding="identity-field-dropped",rule=""} 1"#,
        #"proofgate_findings_total{client="unknown",finding="state-missing",rule=""} 1"#,
        #"proofgate_findings_total{client="unknown",finding="would-reject",rule="pkce-required"} 2"#,
      ])
  }

  @Test("Readiness is a metric, in all and for each check; without checks there is none")
  func readiness() {
    #expect(lines("proofgate_ready").isEmpty)
    let text = PrometheusText.render(
      registry.snapshot(), process: ProcessFacts(), version: "1", startTime: 0,
      readiness: [("serving", true), ("upstream", false)])
    #expect(text.contains("\nproofgate_ready 0\n"))
    #expect(text.contains("\nproofgate_ready_check{check=\"serving\"} 1\n"))
    #expect(text.contains("\nproofgate_ready_check{check=\"upstream\"} 0\n"))
  }

  @Test("At most 1,000 clients have series of their own, over all workers; the others share one")
  func cardinality() {
    for number in 0..<3000 {
      registry.workers[number % 2].decide(.forward, client: "client-\(number)")
    }
    registry.workers[0].decide(.forward, client: "client-1")
    let decisions = registry.snapshot().decisions
    #expect(decisions.count == 1001)
    #expect(decisions.values.reduce(0, +) == 3001)
    #expect(lines("proofgate_decisions_total").contains { $0.contains(#"client="other""#) && $0.hasSuffix(" 2000") })
    #expect(lines("proofgate_decisions_total").contains { $0.contains(#"client="client-1""#) && $0.hasSuffix(" 2") })
  }

  @Test("The policy, its reloads, the build and the process are described")
  func environment() {
    registry.policyReloaded(version: "77\"b")
    registry.policyReloadFailed()
    registry.policyReloadFailed()
    registry.workers[1].setStalled(true)
    let text = render(ProcessFacts(residentBytes: 8192, openFiles: 12, maximumFiles: 1024))
    for line in [
      #"proofgate_policy_info{version="77\"b"} 1"#, #"proofgate_policy_reloads_total{result="ok"} 1"#,
      #"proofgate_policy_reloads_total{result="failed"} 2"#, "proofgate_workers 2", "proofgate_workers_stalled 1",
      #"proofgate_build_info{version="0.1.0"} 1"#, "process_start_time_seconds 1795000000.12",
      "process_resident_memory_bytes 8192", "process_open_fds 12", "process_max_fds 1024",
      "proofgate_log_lines_dropped_total 0",
    ] {
      #expect(text.split(separator: "\n").contains { $0 == line })
    }
    registry.workers[1].setStalled(false)
    #expect(lines("proofgate_workers_stalled") == ["proofgate_workers_stalled 0"])
  }

  @Test("Every sample belongs to a family that was announced once, with help and type")
  func format() {
    registry.workers[0].decide(.forward, client: "mail")
    let text = render(ProcessFacts.current())
    var family: Substring = ""
    var families: Set<Substring> = []
    for line in text.split(separator: "\n") {
      if line.hasPrefix("# HELP ") {
        family = line.dropFirst(7).prefix { $0 != " " }
        let isNew = families.insert(family).inserted
        #expect(isNew)
      } else if line.hasPrefix("# TYPE ") {
        #expect(line.dropFirst(7).hasPrefix(family + " "))
      } else {
        let rest = line.dropFirst(family.count)
        #expect(line.hasPrefix(family))
        #expect(["{", " ", "_bucket", "_sum", "_count"].contains { rest.hasPrefix($0) })
      }
    }
    #expect(text.hasSuffix("\n"))
  }

  @Test("The kernel's facts about this process are read")
  func facts() throws {
    let facts = ProcessFacts.current()
    #expect(try #require(facts.residentBytes) > 1 << 20)
    #expect(try #require(facts.openFiles) > 2)
    #expect(try #require(facts.maximumFiles) >= 64)
  }
}
