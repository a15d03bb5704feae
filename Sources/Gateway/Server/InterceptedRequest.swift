internal import Bytes
import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Stores
import Telemetry

/// One intercepted request and the objects that its endpoint needs: the worker's gateway, the upstream, and the trail.
final class InterceptedRequest {
  /// The longest unknown client id in the log, in bytes: enough to distinguish clients, too short to fill the log.
  private static let longestNoted = 256

  let gateway: Gateway
  let request: Request
  let upstream: Upstream
  let trail: AuditTrail
  /// The path of the authorization endpoint that first received the request of a start ticket.
  var restartedPath: String?

  init(gateway: Gateway, request: Request, upstream: Upstream, trail: AuditTrail) {
    self.gateway = gateway
    self.request = request
    self.upstream = upstream
    self.trail = trail
  }

  var policy: Policy { gateway.policy }
  var pages: Pages { gateway.pages }
  var now: Int64 { gateway.now }

  func session() -> BrowserSession? { gateway.snapshot.cookie.read(request, gateway.sealer) }

  /// Records the client of the request.
  func note(client: Client) {
    trail.client = client.id.rawValue
    trail.isConfigured = true
    trail.mode = client.mode.rawValue
  }

  /// Records the client id of a request, which may not be that of a configured client.
  func note(clientID: String?) {
    guard let clientID else { return }
    let isShort = clientID.utf8.count <= InterceptedRequest.longestNoted
    trail.client =
      isShort ? clientID : String(decoding: clientID.utf8.prefix(InterceptedRequest.longestNoted), as: UTF8.self)
    if let client = policy.clients[ClientID(clientID)] { note(client: client) }
  }

  /// Records a challenge that another browser sent before: the app's verifiers are not random (RFC 9700, section
  /// 2.1.1).
  ///
  /// - Parameter browserHash: The hash of the browser's secret.
  func note(_ challenge: CodeChallenge?, from browserHash: [UInt8]) {
    guard let challenge, gateway.resources.challenges.isRepeated(challenge.text, from: browserHash) else { return }
    trail.findings.append("challenge-reused")
  }

  /// Returns the request as the endpoints read it that clients call directly (RFC 6749, section 3.2).
  func clientRequest(_ names: ParameterNames = .atToken) -> TokenRequest {
    TokenRequest(
      method: request.method, query: request.query, contentTypes: request.headers.all("Content-Type"),
      contentEncodings: request.headers.all("Content-Encoding"), authorization: request.headers.all("Authorization"),
      body: request.body, names: names, hasDPoPProof: request.headers.contains("DPoP"),
      hasClientCertificate: request.headers.fields.contains { InterceptedRequest.certificateFields.contains($0.name) })
  }

  /// The fields in which a proxy forwards a client certificate (RFC 9440, and older ones). The proxy passes them to the
  /// gateway only from trusted proxies.
  private static let certificateFields: FieldNames = [
    "client-cert", "x-client-cert", "x-ssl-client-cert", "ssl-client-cert", "x-forwarded-client-cert",
    "x-forwarded-tls-client-cert",
  ]

  /// Returns the header fields of the request that go upstream with a request that the gateway makes.
  ///
  /// Omitted are the fields of the client's connection, and those by which some servers let a request change its
  /// method. `Upstream` removes the gateway's cookie from every request.
  func forwardedHeaders(keepingBody: Bool) -> Headers {
    var headers = Headers(capacity: request.headers.fields.count)
    for field in request.headers.fields where !InterceptedRequest.ownedFields.contains(field.name) {
      if InterceptedRequest.bodyFields.contains(field.name) {
        if keepingBody { headers.append(field.name, field.value) }
      } else {
        headers.append(field.name, field.value)
      }
    }
    return headers
  }

  /// Fields of the client's connection and of its cached responses, and those by which some servers change the method.
  private static let ownedFields: FieldNames = [
    "host", "via", "x-http-method-override", "x-http-method", "x-method-override", "if-none-match",
    "if-modified-since", "if-match", "if-unmodified-since", "if-range", "range",
  ]
  private static let bodyFields: FieldNames = ["content-type", "content-encoding", "content-language"]

  /// Returns the request as the client sent it, for requests that pass.
  func unchanged() -> OutboundRequest {
    OutboundRequest(
      method: request.method, target: request.target, headers: forwardedHeaders(keepingBody: true),
      body: request.body, peer: request.peer)
  }
}
