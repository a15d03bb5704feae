internal import Bytes
import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Stores
import Telemetry

/// One intercepted request with what its endpoint needs: the worker's gateway, the upstream, and the trail.
final class InterceptedRequest {
  /// Bytes of an unknown client id that the log keeps: enough to distinguish clients, and no way to fill the log.
  private static let longestNoted = 256

  let gateway: Gateway
  let request: Request
  let upstream: Upstream
  let trail: AuditTrail
  /// The path of the authorization endpoint at which the request of a start ticket was first made.
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

  /// Notes whose request it is.
  func note(client: Client) {
    trail.client = client.id.rawValue
    trail.isConfigured = true
    trail.mode = client.mode.rawValue
  }

  /// Notes the client id of a request that may not be a configured client's.
  func note(clientID: String?) {
    guard let clientID else { return }
    let isShort = clientID.utf8.count <= InterceptedRequest.longestNoted
    trail.client =
      isShort ? clientID : String(decoding: clientID.utf8.prefix(InterceptedRequest.longestNoted), as: UTF8.self)
    if let client = policy.clients[ClientID(clientID)] { note(client: client) }
  }

  /// Notes a challenge that another browser sent before: the app's verifiers are not random (RFC 9700, section 2.1.1).
  ///
  /// - Parameter browserHash: The hash of the browser's secret.
  func note(_ challenge: CodeChallenge?, from browserHash: [UInt8]) {
    guard let challenge, gateway.resources.challenges.isRepeated(challenge.text, from: browserHash) else { return }
    trail.findings.append("challenge-reused")
  }

  /// The request as the endpoints read it that clients call (RFC 6749, section 3.2).
  func clientRequest(_ names: ParameterNames = .atToken) -> TokenRequest {
    TokenRequest(
      method: request.method, query: request.query, contentTypes: request.headers.all("Content-Type"),
      contentEncodings: request.headers.all("Content-Encoding"), authorization: request.headers.all("Authorization"),
      body: request.body, names: names, hasDPoPProof: request.headers.contains("DPoP"),
      hasClientCertificate: request.headers.fields.contains { InterceptedRequest.certificateFields.contains($0.name) })
  }

  /// Fields in which a proxy forwards the certificate of a client (RFC 9440, and older ones). From other peers than trusted
  /// proxies none arrives here.
  private static let certificateFields: FieldNames = [
    "client-cert", "x-client-cert", "x-ssl-client-cert", "ssl-client-cert", "x-forwarded-client-cert",
    "x-forwarded-tls-client-cert",
  ]

  /// The fields of the request that go upstream with a request of the gateway's own.
  ///
  /// Left out: what belongs to the client's connection, and fields by which some servers let a request change its method.
  /// `Upstream` takes the gateway's cookie out of whatever it sends.
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

  /// Of the client's connection, of its own copies of answers, and those by which some servers change the method.
  private static let ownedFields: FieldNames = [
    "host", "via", "x-http-method-override", "x-http-method", "x-method-override", "if-none-match",
    "if-modified-since", "if-match", "if-unmodified-since", "if-range", "range",
  ]
  private static let bodyFields: FieldNames = ["content-type", "content-encoding", "content-language"]

  /// The request as the client sent it, for what passes.
  func unchanged() -> OutboundRequest {
    OutboundRequest(
      method: request.method, target: request.target, headers: forwardedHeaders(keepingBody: true),
      body: request.body, peer: request.peer)
  }
}
