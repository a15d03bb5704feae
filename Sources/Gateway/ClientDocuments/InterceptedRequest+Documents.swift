internal import ByteText
internal import ClientDocuments
import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Sealing
import Telemetry

/// Clients whose `client_id` is the URL of a metadata document.
///
/// Only a new authorization request fetches the document. The metadata are then sealed into the consent form, the
/// state, the code and the refresh token, so that each later step decides on exactly what the user has seen. The
/// policy is applied to the URL and to these metadata at each step.
extension InterceptedRequest {
  /// Returns the URL if the id is one of a document that the policy permits, and the policy does not list the id as a
  /// client.
  func documentURL(_ id: String) -> ClientDocumentURL? {
    guard listedClient(id) == nil else { return nil }
    return policy.clientDocuments?.url(id)
  }

  /// Returns the client that the metadata known to this request describe; `nil` if there are none for the id, or if the
  /// policy does not permit the client.
  func documentClient(_ id: String) -> Client? {
    guard let document, document.clientID == ClientID(id), let url = documentURL(id) else { return nil }
    return policy.clientDocuments?.client(url, document.metadata)
  }

  /// Uses the metadata that were sealed when the sign-in began.
  func useDocument(in binding: ClientBinding) {
    guard let metadata = binding.document else { return }
    document = ClientDocumentInUse(clientID: binding.clientID, metadata: metadata)
  }

  /// Returns the metadata to seal for a permitted request. Of the redirect URIs that the request does not use, they have
  /// only what a deny-list can name.
  func documentToSeal(for permit: AuthorizationPermit) -> ClientMetadata? {
    guard let document, document.clientID == permit.client.id, let url = documentURL(document.clientID.rawValue) else {
      return nil
    }
    return document.metadata.reduced(to: permit.redirectURI, documentHost: url.host)
  }

  /// Makes the metadata of the client available that a new authorization request names by the URL of its document.
  /// Returns a refusal if the rules that need no document refuse the request, or if there is no acceptable document.
  /// Returns `nil` for a request of any other client.
  ///
  /// Without the document the redirect URI is not verified, so each refusal is a page.
  func readDocument(for request: AuthorizationRequest, isRestarted: Bool) async -> Response? {
    guard let id = request.parameters[.clientID], let url = documentURL(id), let settings = policy.clientDocuments
    else {
      return nil
    }
    let redirectURI = request.parameters[.redirectURI].flatMap { try? RedirectURI(parsing: $0) }
    guard let client = settings.clientBeforeDocument(url, redirectURI: redirectURI) else {
      trail.recordRefusal(.redirectURIMismatch)
      return pages.error(ErrorPage(.redirectURIMismatch))
    }
    let outcome = Enforcement.decideAuthorization(
      request, policy: policy, stateIsSealed: false, requestWasSealed: isRestarted, isRestarted: isRestarted,
      unlisted: client)
    guard outcome.permit != nil else {
      let rejection = outcome.refusal?.rejection ?? .clientUnknown
      trail.recordRefusal(rejection)
      return pages.error(ErrorPage(rejection))
    }
    guard opensPage else {
      trail.recordRefusal(.clientDocumentUnavailable)
      return pages.error(ErrorPage(.clientDocumentUnavailable, detail: "the request does not open a page"))
    }
    let reading = await document(at: url)
    recordReading(reading, of: url)
    switch reading.outcome {
    case .success(let metadata):
      document = ClientDocumentInUse(clientID: ClientID(url.text), metadata: metadata)
      return nil
    case .failure(let failure):
      let rejection: Rejection =
        if case .invalid = failure { .clientDocumentInvalid } else { .clientDocumentUnavailable }
      trail.recordRefusal(rejection)
      return pages.error(ErrorPage(rejection, detail: "the metadata document of the app cannot be used: \(failure)"))
    }
  }

  /// False for a request that a page makes for an image or a frame, that a browser makes in advance, or that has no
  /// body in its answer. Any website could use its visitors' browsers to spend the fetches of a host with them.
  private var opensPage: Bool {
    let headers = request.headers
    return request.method != "HEAD" && (headers["Sec-Fetch-Dest"].map { $0 == "document" } ?? true)
      && !headers.all("Sec-Purpose").contains { $0.utf8.span.contains("prefetch") }
  }

  private func document(at url: ClientDocumentURL) async -> DocumentReading {
    guard let fetcher = gateway.snapshot.documents else {
      return .unread(.unavailable(.address, "documents are not fetched"))
    }
    return await fetcher.metadata(
      at: url, isListed: policy.clientDocuments?.lists(url) ?? false,
      for: request.peer.isLoopback ? nil : request.peer.address, cache: gateway.resources.documents,
      on: upstream.poller, gate: upstream.handshakes)
  }

  /// Counts a fetch, and records a failure in the log and for the operator. The host is one that the policy lists.
  private func recordReading(_ reading: DocumentReading, of url: ClientDocumentURL) {
    let outcome = DocumentFetchOutcome(reading.failure)
    if reading.isFetch { gateway.recordDocumentFetch(outcome) }
    guard let failure = reading.failure else { return }
    // The failure is that of a fetch whose document is in use for some more time, if there is an earlier version.
    let finding = if case .success = reading.outcome { "document-stale" } else { "document-failed" }
    trail.findings.append("\(finding):\(url.authority):\(outcome.rawValue)")
    if reading.isFetch {
      gateway.resources.notices.report("a client document of `\(url.authority)` was not fetched: \(failure)")
    }
  }

  /// Records that a sign-in of the client was completed, so that its document stays in the cache longer than others.
  func recordDocumentSignIn(of client: Client) {
    guard let url = documentURL(client.id.rawValue) else { return }
    gateway.resources.documents.recordSignIn(url)
  }

  // MARK: Requests of clients

  /// Returns the client with this id that a token request or another request of a client names, if the id is the URL of
  /// a document. The metadata are those in the code or refresh token that the endpoint uses. Without such a value the client
  /// has no redirect URI, and the rules refuse the request as that of a known client.
  func documentClient(_ id: String, of request: TokenRequest) -> Client? {
    guard let url = documentURL(id), let settings = policy.clientDocuments else { return nil }
    if let binding = sealedBinding(in: request), binding.clientID == ClientID(id), binding.document != nil {
      useDocument(in: binding)
      return documentClient(id)
    }
    return settings.clientWithoutDocument(url)
  }

  /// Returns the binding of the sealed value that the token endpoint uses; `nil` at other endpoints, which do not depend on
  /// the metadata. A client may add any other sealed value to a request, for example a code of another client, so the
  /// metadata must not come from there.
  private func sealedBinding(in request: TokenRequest) -> ClientBinding? {
    let parameters = request.parameters
    switch parameters[.grantType].flatMap(GrantType.init) {
    case .authorizationCode:
      guard let text = parameters[.code], case .value(let code) = gateway.sealer.opened(text) as Opened<IssuedCode>
      else { return nil }
      return code.binding.client
    case .refreshToken:
      guard let text = parameters[.refreshToken],
        case .value(let grant) = gateway.sealer.opened(text) as Opened<RefreshGrant>
      else { return nil }
      return grant.binding
    default: return nil
    }
  }
}

/// The metadata with which a request is decided.
struct ClientDocumentInUse {
  /// The URL of the document.
  let clientID: ClientID
  let metadata: ClientMetadata
}

extension DocumentFetchOutcome {
  /// The outcome of a fetch with this failure; `nil` for a fetch without one.
  fileprivate init(_ failure: DocumentFailure?) {
    self =
      switch failure {
      case nil: .ok
      case .unavailable(.lookUp, _): .lookUp
      case .unavailable(.address, _): .address
      case .unavailable(.connection, _): .connection
      case .unavailable(.tls, _): .tls
      case .unavailable(.timeout, _): .timeout
      case .unavailable(.response, _): .response
      case .unavailable(.rate, _): .rate
      case .status: .status
      case .invalid: .invalid
      }
  }
}
