import Markup
import OAuth
import Policy
import Telemetry
import Time

@testable import Admin

/// A process with decisions, for the tests of the status page.
struct StatusSample {
  /// The start of a minute.
  static let now: Timestamp = 1_795_000_020_000

  let status: ProcessStatus
  var worker: WorkerMetrics { status.metrics.workers[0] }

  init(_ clients: [(id: String, mode: EnforcementMode)] = [], version: String = "v1") throws {
    status = ProcessStatus(
      version: "0.1.0", libraries: ["OpenSSL 3.0.17 1 Jul 2025", "nghttp2 1.52.0", "zlib 1.2.13"],
      metrics: MetricsRegistry(workers: 2, policyVersion: version),
      policy: try StatusSample.policy(clients, version: version),
      startTime: Timestamp(milliseconds: StatusSample.now.milliseconds - 277_000_000))
    status.beginServing([])
  }

  static func policy(_ clients: [(id: String, mode: EnforcementMode)], version: String = "v1") throws -> Policy {
    let origin = Origin(scheme: .https, host: "id.example.com")
    let settings = try clients.map { id, mode in
      ClientSettings(
        id: ClientID(id), kind: .public, application: .native,
        redirectURIs: [try RedirectURI(parsing: "com.example.app:/cb")], mode: mode, consent: .upstream,
        upstream: UpstreamClient(
          clientID: ClientID("legacy"), clientSecret: Secret("very-secret"), authentication: .basic,
          redirectURI: .callback))
    }
    return Policy(
      gateway: GatewaySettings(origin: origin, issuer: origin.description, listeners: [], admin: nil, replicas: 1),
      upstream: UpstreamSettings(
        origin: Origin(scheme: .https, host: "legacy.example.com"),
        endpoints: EndpointPaths(authorization: ["/authorize"], token: ["/token"])),
      unknownClients: .observe, mode: .enforce,
      clients: Dictionary(settings.map { ($0.id, Client($0)) }, uniquingKeysWith: { first, _ in first }),
      version: version)
  }

  static func time(minutesAgo minutes: Int, milliseconds: Int64 = 0) -> Timestamp {
    Timestamp(milliseconds: now.milliseconds - Int64(minutes) * 60_000 + milliseconds)
  }

  static func record(
    _ decision: DecisionKind, client: String?, at endpoint: DecisionEndpoint = .authorization, rule: String? = nil,
    findings: [String] = [], minutesAgo minutes: Int = 1, observed: RequestDetails? = nil,
    upstreamStatus: Int? = nil
  ) -> DecisionRecord {
    DecisionRecord(
      time: time(minutesAgo: minutes, milliseconds: 250), request: "AAECAwQFBgcICQoLDA0ODw", endpoint: endpoint,
      client: client, decision: decision, rule: rule, status: decision == .reject ? 400 : 303, mode: "observe",
      findings: findings, upstreamStatus: upstreamStatus, durationNanoseconds: 1_000_000, peer: "192.0.2.1",
      policyVersion: "v1", details: observed)
  }

  /// Counts a decision and returns its record.
  @discardableResult
  func decide(
    _ decision: DecisionKind, client: String?, at endpoint: DecisionEndpoint = .authorization, isListed: Bool = true,
    rule: String? = nil, findings: [String] = [], minutesAgo minutes: Int = 1, observed: RequestDetails? = nil,
    upstreamStatus: Int? = nil
  ) -> DecisionRecord {
    let record = StatusSample.record(
      decision, client: client, at: endpoint, rule: rule, findings: findings, minutesAgo: minutes, observed: observed,
      upstreamStatus: upstreamStatus)
    worker.decided(record, isListed: isListed)
    return record
  }

  func report(now: Timestamp = now, upstreamProblem: String? = nil) -> StatusReport {
    StatusReport(
      status,
      readiness: Readiness(
        status.current, stalledLoops: 0, store: status.metrics.currentStoreActivity, upstreamProblem: upstreamProblem),
      now: now)
  }

  static func html(_ report: StatusReport, _ language: StatusLanguage = .english) -> String {
    StatusPage(report: report, language: language).html(entityTag: StatusReport.entityTag(of: report.json)).text
  }
}

extension StatusSample {
  /// A process that has served for three days, with all that the page can show.
  static func busy() throws -> StatusSample {
    let enforced = ["acme-mail", "acme-calendar", "acme-files"].map { ($0, EnforcementMode.enforce) }
    let observed = ["intranet", "reporting-dashboard", "warehouse-scanner", "acme-notes", "old-wiki"]
      .map { ($0, EnforcementMode.observe) }
    let sample = try StatusSample(enforced + observed, version: "3fa9c1d2")
    var request = RequestDetails()
    request.redirectURI = "http://scanner.example.com/oauth/callback"
    request.responseType = "code"
    request.pkce = "none"
    for minutes in 0..<120 {
      // A day's curve without randomness, so that the page is the same each time.
      let load = 14 + minutes * 7 % 11 + (minutes % 40 < 20 ? minutes % 40 : 40 - minutes % 40)
      for number in 0..<load {
        sample.decide(
          .forward, client: ["acme-mail", "acme-calendar", "acme-files", "acme-notes"][number % 4],
          at: number % 3 == 0 ? .token : .authorization, minutesAgo: minutes)
      }
      for _ in 0..<(minutes * 5 % 7) {
        sample.decide(
          .wouldReject, client: "warehouse-scanner", rule: "pkce-required",
          findings: ["would-reject:pkce-required", "would-reject:redirect-uri-malformed"], minutesAgo: minutes,
          observed: request)
      }
      if minutes % 9 == 0 {
        sample.decide(.wouldReject, client: "intranet", rule: "state-required", minutesAgo: minutes, observed: request)
        sample.decide(.reject, client: "acme-mail", at: .token, rule: "code-replayed", minutesAgo: minutes)
        sample.decide(.notObservable, client: "acme-notes", at: .token, minutesAgo: minutes)
      }
      if minutes < 8 {
        for _ in 0..<3 {
          sample.decide(
            .reject, client: "acme-mail", rule: "redirect-uri-mismatch", minutesAgo: minutes)
        }
      }
    }
    for client in ["partner-portal", "cron-export"] {
      sample.decide(
        .wouldReject, client: client, isListed: false, rule: "client-unknown",
        findings: ["would-reject:client-unknown"], minutesAgo: 31, observed: request)
    }
    for (index, handling) in [(0, Handling.pass), (1, .forward), (2, .answer), (3, .refuse)] {
      for number in 0..<400 {
        sample.worker.requestFinished(
          handling, status: handling == .refuse ? 400 : 200,
          durationNanoseconds: UInt64((number * number / 40 + 120) * (index == 2 ? 300 : 12_000)))
        sample.worker.upstreamAnswered(nanoseconds: UInt64((number * number / 20 + 900) * 11_000))
      }
    }
    for _ in 0..<14 { sample.worker.upstreamFailed(.timeout) }
    for _ in 0..<38 { sample.worker.connectionAccepted() }
    for _ in 0..<12 { sample.worker.upstreamConnectionOpened() }
    let day: Int64 = 86_400
    let seconds = now.milliseconds / 1_000
    sample.status.metrics.setCertificates([
      CertificateExpiry(
        listener: "0.0.0.0:443", name: "id.example.com", fingerprint: "3c9f0a1be4d2",
        end: UnixTime(seconds: seconds + 62 * day)),
      CertificateExpiry(
        listener: "upstream", name: "gateway.internal.example.com", fingerprint: "a01b77c0de55",
        end: UnixTime(seconds: seconds + 9 * day)),
    ])
    sample.status.metrics.setStoreMeasurement {
      [
        StoreSeries(kind: "claim", entries: 1_204, bytes: 115_584, share: 6_710_886, evictions: 0, refusals: 0),
        StoreSeries(kind: "family", entries: 48_210, bytes: 4_628_160, share: 53_687_091, evictions: 0, refusals: 0),
        StoreSeries(kind: "state", entries: 96, bytes: 402_144, share: 26_843_545, evictions: 12, refusals: 0),
        StoreSeries(kind: "answer", entries: 310, bytes: 701_220, share: 6_710_886, evictions: 0, refusals: 3),
      ]
    }
    sample.status.metrics.setStoreActivityMeasurement {
      var buckets = [UInt64](repeating: 0, count: 21)
      for (index, count) in [(2, 900), (3, 4_200), (4, 3_100), (5, 420), (8, 12)] { buckets[index] = UInt64(count) }
      return StoreActivitySeries(
        engine: "file", epoch: "7f3a90c2", outage: nil, buckets: buckets, nanoseconds: 9_000_000_000, failures: [])
    }
    sample.status.recordReload(
      ReloadReport(
        .adopted, .signal, policy: "3fa9c1d2", clients: 8,
        changes: ["acme-files: pkce-required would be refused, is refused"],
        warnings: ["policy.yaml:41:7: warning: `localhost` in a redirect URI; use `127.0.0.1` (RFC 8252, section 8.3)"]),
      at: time(minutesAgo: 212))
    sample.status.metrics.policyReloaded(version: "3fa9c1d2")
    return sample
  }

  /// The same process after a reload that was refused, with a server that is away.
  static func troubled() throws -> StatusSample {
    let sample = try busy()
    sample.status.recordReload(
      ReloadReport(
        .errors, .file, policy: "3fa9c1d2", clients: 8,
        errors: [
          "policy.yaml:57:9: error: `redirect_uri` is not a setting here; did you mean `redirect_uris`?",
          "policy.yaml:63:13: error: the client `acme-mail` is listed twice; remove one of the entries",
        ]),
      at: time(minutesAgo: 3))
    sample.status.metrics.policyReloadFailed()
    return sample
  }
}
