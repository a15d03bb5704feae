internal import ByteText
import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Stores
import Telemetry
import Time

/// A request that the gateway answers itself, with the objects that its endpoint needs: the worker's gateway, the
/// upstream, and the record for the log.
final class InterceptedRequest {
  /// The maximum length, in bytes, of a client id in the log if the policy does not list the client. A longer id is
  /// cut. The length is sufficient to distinguish clients, and a program cannot fill the log with long ids.
  private static let maximumUnlistedIDLength = 256

  let gateway: Gateway
  let request: Request
  let upstream: Upstream
  let trail: AuditTrail
  /// The path of the authorization endpoint that received the original request, if the user restarts a sign-in by a
  /// link of the gateway (`StartEndpoint`); otherwise `nil`.
  var originalAuthorizationPath: String?
  /// The client of the request; `nil` if it names none, or before it was recorded.
  private(set) var recordedClient: Client?
  /// The client of the last look-up of an unlisted id; the client is `nil` if the id belongs to none.
  private var lastUnlisted: (id: ClientID, client: Client?)?
  /// The client of the last look-up of an id that the policy lists. One request looks for the same id about ten times.
  private var lastListed: Client?
  /// The metadata document of the client, if the `client_id` is the URL of one and its content is known.
  var document: ClientDocumentInUse? {
    didSet { lastUnlisted = nil }
  }

  /// The work on a request that may be expensive; otherwise `nil`.
  var work: ProcessorTime.Work?

  init(gateway: Gateway, request: Request, upstream: Upstream, trail: AuditTrail) {
    self.gateway = gateway
    self.request = request
    self.upstream = upstream
    self.trail = trail
  }

  var policy: Policy { gateway.policy }
  /// The pages in the language that the browser prefers, with the id of the request.
  var pages: Pages {
    gateway.pages.naming(request: trail.requestID).preferring(ErrorForm.joined(request.headers.all("Accept-Language")))
  }
  var now: UnixTime { gateway.now }

  /// Charges the work on the request so far to the client's address. Called when a form was parsed, in front of the first
  /// wait.
  func chargeWork() { work?.charge() }

  /// Returns the session in the browser's cookie; `nil` without a valid cookie.
  func session() -> BrowserSession? { gateway.snapshot.cookie.session(of: request, gateway.sealer) }

  /// Returns the client with this id that the policy lists; `nil` if it lists none.
  func listedClient(_ id: String) -> Client? {
    if let lastListed, lastListed.id == ClientID(id) { return lastListed }
    guard let client = policy.clients[ClientID(id)] else { return nil }
    lastListed = client
    return client
  }

  /// Returns the client with this id that the policy does not list; `nil` if there is none, or if the policy lists the
  /// id. All decisions on a request get the client from here.
  func unlistedClient(_ id: String?) -> Client? {
    guard let id, listedClient(id) == nil else { return nil }
    if let lastUnlisted, lastUnlisted.id == ClientID(id) { return lastUnlisted.client }
    let client = gateway.registeredClient(id) ?? documentClient(id)
    lastUnlisted = (ClientID(id), client)
    return client
  }

  /// Returns the unlisted client that a request of a client names in its body or `Authorization`.
  func unlistedClient(of request: TokenRequest) -> Client? {
    let authentication = request.readableClientAuthentication
    guard let id = authentication?.clientID.rawValue else { return nil }
    if document == nil, let client = documentClient(id, of: request) {
      lastUnlisted = (ClientID(id), client)
      return client
    }
    return unlistedClient(id)
  }

  /// Returns the client with this id, whether the policy lists it or not.
  func client(_ id: ClientID) -> Client? {
    listedClient(id.rawValue) ?? policy.client(id, unlisted: unlistedClient(id.rawValue))
  }

  /// Records the client of the request.
  func recordClient(_ client: Client) {
    recordedClient = client
    // The metrics have a series for each configured client. Unlisted clients have none, because anyone can make one.
    trail.clientIsConfigured = listedClient(client.id.rawValue) != nil
    if trail.clientIsConfigured { trail.client = client.id.rawValue }
    trail.mode = client.mode.rawValue
  }

  /// Records the client id of a request, and the client with this id if there is one.
  func recordClient(id clientID: String?) {
    guard let clientID else { return }
    recordClient(id: clientID, client: client(ClientID(clientID)))
  }

  /// Records a client id, and the client if there is one. The log has an id that the gateway issued in its short form.
  func recordClient(id clientID: String, client: Client?) {
    let maximum = InterceptedRequest.maximumUnlistedIDLength
    let text = ClientID(clientID).shortForm.rawValue
    trail.client = text.utf8.count <= maximum ? text : String(decoding: text.utf8.prefix(maximum), as: UTF8.self)
    if let client { recordClient(client) }
  }

  /// Remembers the challenge, and records a finding if the last request with the same challenge came from another
  /// browser. In that case, the verifiers of the app are not random (RFC 9700, section 2.1.1).
  ///
  /// - Parameter browserHash: The SHA-256 digest of the secret in the browser's cookie (`BrowserSession`).
  func recordReuseAcrossBrowsers(of challenge: CodeChallenge?, browserHash: [UInt8]) {
    guard let challenge, gateway.resources.recentChallenges.recordAndCheckReuse(challenge.text, from: browserHash)
    else {
      return
    }
    trail.findings.append("challenge-reused")
  }

  /// Returns the client and network to which the store entries of this request are charged.
  func storeHolder(for client: Client) -> StoreHolder { storeHolder(for: client.id) }

  /// Returns the client and network to which the store entries of this request are charged. A client that the policy
  /// does not list is charged as its network alone: such ids cost nothing, so one network could otherwise fill a share
  /// of the store with many of them.
  func storeHolder(for id: ClientID?) -> StoreHolder {
    let listed = id.flatMap { listedClient($0.rawValue)?.id }
    return StoreHolder(
      client: listed, address: request.peer.address, isLoopback: request.peer.isLoopback,
      isUnlisted: id != nil && listed == nil)
  }

  /// Returns the header fields for a request to the upstream without a body: those of the client's request, except
  /// `omittedFields` and those that ``append(_:to:)`` drops. `Upstream` removes the gateway's cookie from every request.
  func forwardedHeaders() -> Headers {
    // The id of the request, the two fields of its trace, and `Content-Type` are added.
    var headers = Headers(capacity: request.headers.fields.count + 4)
    for field in request.headers.fields where !InterceptedRequest.omittedFields.contains(field.name) {
      append(field, to: &headers)
    }
    identify(&headers)
    return headers
  }

  /// The fields of the client's connection, the fields by which some servers override the method, the fields for
  /// conditional and range requests, because the gateway needs the complete response, and the fields that describe the
  /// body.
  private static let omittedFields: FieldNames = [
    "host", "via", "x-http-method-override", "x-http-method", "x-method-override", "if-none-match",
    "if-modified-since", "if-match", "if-unmodified-since", "if-range", "range",
    "content-type", "content-encoding", "content-language",
  ]

  /// Returns a request for the upstream with the method, target and body that the client sent, and with
  /// `forwardedHeaders`. The decision was made on the parameters of the body, so the `Content-Type` is the one by which
  /// the gateway has read them.
  func forwardedRequest() -> OutboundRequest {
    var headers = forwardedHeaders()
    let type = FormContent.contentType(
      of: request.headers.all("Content-Type"), encodings: request.headers.all("Content-Encoding"))
    if let type, !request.body.isEmpty { headers.append("Content-Type", type) }
    return OutboundRequest(
      method: request.method, target: request.target, headers: headers, body: request.body, peer: request.peer)
  }
}
