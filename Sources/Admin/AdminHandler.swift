import Compression
import HTTP
import HTTP1
import Proxy
import Reactor
import Telemetry

/// Responds to requests on the admin listener. It sends no HTTP request to the upstream. For `/readyz` it tests whether
/// the upstream accepts a connection.
final class AdminHandler: RequestHandler {
  private let status: ProcessStatus
  private let probe: UpstreamProbe
  /// True if the listener's address is loopback, so that only this machine can connect.
  private let isLoopback: Bool

  init(_ status: ProcessStatus, _ probe: UpstreamProbe, isLoopback: Bool) {
    self.status = status
    self.probe = probe
    self.isLoopback = isLoopback
  }

  func route(_ head: RequestHead, _ bytes: Span<UInt8>, _ fields: HeadIndex, client: ClientFacts) -> Route {
    guard head.method == .get || head.method == .head else {
      var response = AdminHandler.text(405, "only GET and HEAD\n")
      response.headers.append("Allow", "GET, HEAD")
      return .answer(response)
    }
    let host = head.host.map { String(decoding: $0.map { bytes[$0] }, as: UTF8.self) }
    guard isAcceptable(host) else {
      return .answer(AdminHandler.text(421, "on loopback the host must be `localhost` or an address\n"))
    }
    let accepted = fields.filter { HeadIndex.equal(bytes, $0.name, "accept-encoding") }
      .map { String(decoding: $0.value.map { bytes[$0] }, as: UTF8.self) }
    switch String(decoding: head.path.map { bytes[$0] }, as: UTF8.self) {
    case "/healthz": return .answer(AdminHandler.text(200, "ok\n"))
    case "/metrics": return .answer(AdminHandler.compressed(metrics(), for: accepted))
    case "/readyz": return .intercept(bodyLimit: 0)
    case "/", "":
      let page = AdminHandler.text(200, StatusPage.render(status, now: SystemClock.timestamp()))
      return .answer(AdminHandler.compressed(page, for: accepted))
    default: return .answer(AdminHandler.text(404, "not found; use / /metrics /healthz /readyz\n"))
    }
  }

  /// Returns true if `host` is an acceptable `Host` field.
  ///
  /// On a loopback address, only `localhost`, an IP address and a missing field are accepted. A website can let its own
  /// name resolve to a loopback address (DNS rebinding), and the browser then sends this name as `Host`. On other
  /// addresses every name is accepted, because the gateway does not know the names that the operator uses.
  private func isAcceptable(_ host: String?) -> Bool {
    guard isLoopback, let host else { return true }
    if host.hasPrefix("[") { return true }
    let name = host.prefix { $0 != ":" }.lowercased()
    return name == "localhost" || Address(literal: name, port: 0) != nil
  }

  func respond(to request: Request, tag: UInt8, upstream: Upstream) async -> Reply {
    let problem = await probe.problem()
    let state = status.current
    let readiness = Readiness(
      state, stalledLoops: status.markStalledLoops(now: SystemClock.monotonicTime()),
      upstreamProblem: problem.map { "\(state.policy.upstream) cannot be reached: \($0)" })
    return .response(
      AdminHandler.response(readiness.ready ? 200 : 503, "application/json", readiness.json))
  }

  private func metrics() -> Response {
    _ = status.markStalledLoops(now: SystemClock.monotonicTime())
    let text = PrometheusText.render(
      status.metrics.snapshot(), process: .current(), version: status.version, startTime: status.startTime)
    return AdminHandler.response(200, PrometheusText.contentType, Array(text.utf8))
  }

  /// Never called, because the listener forwards no request. The same holds for the next two functions.
  func passingLocation(_ location: String, requestHasPrivateCookie: Bool, request: UInt64) -> LocationVerdict {
    .withhold
  }

  func respond(to withheld: WithheldResponse, upstream: Upstream) async -> Response { Response(status: 502) }
  func editPassing(_ response: inout Response) {}

  func failure(_ failure: ProxyFailure, as form: ErrorForm) -> Response {
    switch failure {
    case .request(let error): AdminHandler.text(error.status, error.description + "\n")
    case .timeout: AdminHandler.text(408, "the request did not arrive in time\n")
    case .overloaded: AdminHandler.text(503, "too many requests at once\n")
    case .bodyTooLarge: AdminHandler.text(413, "requests to this listener must not have a body\n")
    case .loop: AdminHandler.text(508, "the request was forwarded in a loop\n")
    case .upstream: AdminHandler.text(500, "this listener has no upstream\n")
    }
  }

  private static func text(_ status: Int, _ body: String) -> Response {
    response(status, "text/plain; charset=utf-8", Array(body.utf8))
  }

  private static func response(_ status: Int, _ type: String, _ body: [UInt8]) -> Response {
    Response(
      status: status,
      headers: ["Content-Type": type, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"], body: body)
  }

  /// Returns the response, compressed if the client accepts gzip. Compression cannot leak a secret (BREACH), because no
  /// response of this listener has one.
  private static func compressed(_ response: Response, for accepted: [String]) -> Response {
    var response = response
    // Uncompressed responses need this field too, because a cache must know that the coding depends on the client (RFC
    // 9110, section 12.5.5).
    response.headers.append("Vary", "Accept-Encoding")
    guard response.body.count >= Encoder.leastBody, ContentCoding.acceptsGzip(accepted),
      let coded = Encoder.gzip(response.body), coded.count < response.body.count
    else { return response }
    response.body = coded
    response.headers.append("Content-Encoding", "gzip")
    return response
  }
}
