import Compression
import HTTP
import HTTP1
import Proxy
import Reactor
import Telemetry
import Time

/// Responds to requests on the admin listener. The handler forwards no request. To answer `/readyz`, it connects to the
/// upstream, and completes a TLS handshake if the upstream uses TLS, but sends no HTTP request.
final class AdminHandler: AnsweringHandler {
  private let status: ProcessStatus
  private let probe: UpstreamProbe
  private let poller: Poller
  /// The tag of a request to reload the policy.
  private static let reloadTag: UInt8 = 1
  /// The time for which a request to reload the policy waits for the result.
  private static let reloadTimeout: Milliseconds = 120_000

  init(_ status: ProcessStatus, _ probe: UpstreamProbe, _ poller: Poller) {
    self.status = status
    self.poller = poller
    self.probe = probe
  }

  func route(_ head: RequestHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, client: ClientFacts) -> Route {
    let path = String(decoding: head.path.map { bytes[$0] }, as: UTF8.self)
    let isReload = path == "/reload"
    guard isReload ? head.method == .post : head.method == .get || head.method == .head else {
      let allowed = isReload ? "POST" : "GET, HEAD"
      var response = AdminHandler.textResponse(405, "use \(allowed)\n")
      response.headers.append("Allow", allowed)
      return .answer(response)
    }
    let host = head.host.map { String(decoding: $0.map { bytes[$0] }, as: UTF8.self) }
    guard AdminHost.isAcceptable(host, listed: status.current.policy.adminHosts) else {
      return .answer(AdminHandler.textResponse(421, AdminHost.advice + "\n"))
    }
    switch path {
    case "/reload":
      let reload = ReloadGuard(
        host: host, origins: AdminHandler.values("origin", bytes, fields),
        sites: AdminHandler.values("sec-fetch-site", bytes, fields), isFromLoopback: client.peer.isLoopback)
      if let refusal = reload.refusal { return .answer(AdminHandler.textResponse(403, refusal + "\n")) }
      return .intercept(bodyLimit: 0, tag: AdminHandler.reloadTag)
    case "/healthz": return .answer(AdminHandler.textResponse(200, "ok\n"))
    // These answers may have to wait for the upstream, so `respond(to:routeTag:upstream:)` gives them.
    case "/metrics": return .intercept(bodyLimit: 0, tag: AdminHandler.metricsTag)
    case "/readyz": return .intercept(bodyLimit: 0)
    case "/", "": return .intercept(bodyLimit: 0, tag: AdminHandler.statusTag)
    case "/status.json": return .intercept(bodyLimit: 0, tag: AdminHandler.statusJSONTag)
    case "/status.txt": return .intercept(bodyLimit: 0, tag: AdminHandler.statusTextTag)
    default:
      return .answer(
        AdminHandler.textResponse(
          404, "not found; use / /status.json /status.txt /metrics /healthz /readyz /reload\n"))
    }
  }

  /// Returns the values of the fields with this name, in lower case.
  private static func values(_ name: String, _ bytes: Span<UInt8>, _ fields: HeadIndex) -> [String] {
    fields.filter { HeadIndex.equalIgnoringCase(bytes, $0.name, name) }
      .map { String(decoding: $0.value.map { bytes[$0] }, as: UTF8.self) }
  }

  private static let metricsTag: UInt8 = 2
  private static let statusTag: UInt8 = 3
  private static let statusJSONTag: UInt8 = 4
  private static let statusTextTag: UInt8 = 5

  /// Answers the requests that `route` intercepts.
  func respond(to request: Request, routeTag: UInt8, upstream: Upstream) async -> Reply {
    if routeTag == AdminHandler.reloadTag { return .response(await reload()) }
    let result = await probe.test()
    let state = status.current
    let readiness = Readiness(
      state, stalledLoops: status.recordStalledLoops(now: SystemClock.monotonicTime()),
      store: status.metrics.currentStoreActivity,
      upstreamProblem: result.problem.map { problem in
        "\(state.policy.upstream) \(result.isReachable ? "is not healthy" : "cannot be reached"): \(problem)"
      },
      addresses: result.addresses)
    let response =
      switch routeTag {
      case AdminHandler.metricsTag: metricsResponse(readiness)
      case AdminHandler.statusTag, AdminHandler.statusJSONTag, AdminHandler.statusTextTag:
        statusResponse(readiness, routeTag, request.headers)
      default: AdminHandler.makeResponse(readiness.ready ? 200 : 503, "application/json", readiness.json)
      }
    guard routeTag != 0 else { return .response(response) }
    return .response(AdminHandler.compressed(response, for: request.headers.all("Accept-Encoding")))
  }

  /// Returns the status as a page, as JSON or as text. All three have the entity tag of the JSON, because all are made
  /// from the same report.
  private func statusResponse(_ readiness: Readiness, _ tag: UInt8, _ fields: Headers) -> Response {
    let report = StatusReport(status, readiness: readiness, now: SystemClock.timestamp())
    let json = report.json
    let entityTag = StatusReport.entityTag(of: json)
    var response =
      switch tag {
      case AdminHandler.statusJSONTag: AdminHandler.makeResponse(200, "application/json", json)
      case AdminHandler.statusTextTag: AdminHandler.textResponse(200, StatusText.render(report))
      default:
        StatusPage.response(
          report, entityTag: entityTag,
          StatusLanguage.preferred(ErrorForm.joined(fields.all("Accept-Language"))))
      }
    response.headers.set("ETag", entityTag)
    guard StatusReport.isKnown(entityTag, in: fields.all("If-None-Match")) else { return response }
    response.headers.remove("Content-Type")
    return Response(status: 304, headers: response.headers)
  }

  /// Reloads the policy and answers with the report.
  private func reload() async -> Response {
    let report = AwaitedValue<ReloadReport?>(on: poller)
    guard status.reloads.add(report) else {
      return AdminHandler.textResponse(503, "too many reloads wait, or the process ends\n")
    }
    switch await report.wait(on: poller, until: poller.deadline(after: AdminHandler.reloadTimeout)) {
    case .some(.some(let report)): return AdminHandler.makeResponse(report.status, "application/json", report.json)
    case .some(.none): return AdminHandler.textResponse(503, "the process ends\n")
    case .none: return AdminHandler.textResponse(504, "the reload continues; see standard error for its result\n")
    }
  }

  private func metricsResponse(_ readiness: Readiness) -> Response {
    let text = PrometheusText.render(
      status.metrics.snapshot(), process: .current(), version: status.version, startTime: status.startTime,
      readiness: readiness.checks.map { ($0.name, $0.ok) },
      addresses: probe.servers.addresses.map { address in
        let counts = address.counts
        let checks = address.checkResults
        return UpstreamAddressSeries(
          address: address.name, isInService: !address.isOut, requests: counts.requests, failures: counts.failures,
          connections: counts.connections,
          checks: checks.passed + checks.failed > 0 ? (checks.passed, checks.failed) : nil)
      })
    return AdminHandler.makeResponse(200, PrometheusText.contentType, Array(text.utf8))
  }

  func failure(_ failure: ProxyFailure, as form: ErrorForm, request: RequestReference) -> Response {
    switch failure {
    case .request(let error): AdminHandler.textResponse(error.status, error.description + "\n")
    case .timeout: AdminHandler.textResponse(408, "the request did not arrive in time\n")
    case .overloaded: AdminHandler.textResponse(503, "too many requests at once\n")
    case .bodyTooLarge: AdminHandler.textResponse(413, "requests to this listener must not have a body\n")
    case .loop: AdminHandler.textResponse(508, "the request was forwarded in a loop\n")
    case .upstream: AdminHandler.textResponse(500, "this listener has no upstream\n")
    }
  }

  private static func textResponse(_ status: Int, _ body: String) -> Response {
    makeResponse(status, "text/plain; charset=utf-8", Array(body.utf8))
  }

  static func makeResponse(_ status: Int, _ type: String, _ body: [UInt8]) -> Response {
    Response(
      status: status,
      headers: ["Content-Type": type, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"], body: body)
  }

  /// Returns the response, with its body compressed if the client accepts gzip, the body has at least
  /// `Encoder.minimumBodyLength` bytes, and the compressed body is shorter. Compression cannot reveal a secret (BREACH
  /// attack), because no response of this listener contains a secret.
  private static func compressed(_ response: Response, for acceptEncoding: [String]) -> Response {
    var response = response
    // An uncompressed response needs this field too: it states that the content depends on `Accept-Encoding` (RFC 9110,
    // section 12.5.5).
    response.headers.append("Vary", "Accept-Encoding")
    guard response.body.count >= Encoder.minimumBodyLength, ContentCoding.acceptsGzip(acceptEncoding),
      let compressedBody = Encoder.gzip(response.body), compressedBody.count < response.body.count
    else { return response }
    response.body = compressedBody
    response.headers.append("Content-Encoding", "gzip")
    return response
  }
}
