import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Sealing

/// Sends authorization responses and refusals to the browser.
extension InterceptedRequest {
  /// Sends an authorization response to its client (RFC 6749, sections 4.1.2 and 4.1.2.1).
  func deliver(_ answer: AuthorizationResponse, to client: Client?) -> Response {
    guard let location = answer.location else {
      return pages.formPost(
        redirectURI: answer.redirectURI.text, parameters: answer.parameters.map { (name: $0.name, value: $0.value) },
        clientName: client?.displayName ?? "the app")
    }
    return redirect(to: location)
  }

  /// Returns a redirect that the gateway itself makes. After a POST its status is 303, so that no browser posts again
  /// (RFC 9700, section 4.12).
  func redirect(to location: String) -> Response {
    Response(
      status: request.method == "POST" ? 303 : 302,
      headers: [
        "Location": location, "Cache-Control": "no-store", "Pragma": "no-cache", "Referrer-Policy": "no-referrer",
      ])
  }

  /// Returns the response for a refusal: a page, or an error response to the client if its redirect URI has been
  /// verified.
  func respond(with refusal: RejectionResponse, transaction: AuthorizationTransaction? = nil) -> Response {
    trail.refused(refusal.rejection)
    if let transaction { trail.transaction = transaction.id }
    if case .differingByte(let registered, let offset) = refusal.detail {
      trail.findings.append("redirect-uri-differs:\(registered + 1):\(offset + 1)")
    }
    let client = transaction.flatMap { policy.clients[$0.clientID] }
    switch refusal.delivery {
    case .redirect:
      if let answer = refusal.response { return deliver(answer, to: client) }
    case .link:
      if let location = refusal.response?.location {
        return pages.openApp(location: location, clientName: client?.displayName ?? "the app")
      }
    case .here: break
    }
    let page = ErrorPage(
      refusal.rejection, detail: refusal.detail.map(words) ?? refusal.errorDescription, transaction: transaction?.id)
    switch refusal.rejection {
    case .browserUnbound, .transactionExpired, .transactionOutdated, .formWithoutTransaction:
      return pages.startAgain(path: transaction.flatMap(startPath), page)
    case .userAgentEmbedded:
      return pages.embeddedUserAgent(address: policy.gateway.origin.description + request.target, page)
    case .methodNotAllowed:
      var response = pages.error(page)
      response.headers.set("Allow", "GET, HEAD, POST")
      return response
    default:
      return pages.error(page)
    }
  }

  private func words(_ detail: Detail) -> String {
    switch detail {
    case .parameter(let name): "the parameter is `\(name)`"
    case .redirectURI(let error): error.description
    // Any client can send this request, so the page does not say how close the guess is; the decision log does.
    case .differingByte: "redirect_uri is not one of the registered URIs"
    case .localhost:
      "redirect_uri is not one of the registered URIs; localhost and 127.0.0.1 are different hosts, so send the one that "
        + "is registered"
    }
  }

  /// Returns the path of a link that restarts a transaction with the authorization request as its client would send it.
  ///
  /// The link contains the request only in sealed form: upstream logs contain sealed states, and a reader of these logs
  /// must not learn the client's state and challenge. Returns `nil` if the client must push its requests, because then
  /// only the client can start.
  private func startPath(_ transaction: AuthorizationTransaction) -> String? {
    guard policy.clients[transaction.clientID]?.pushedAuthorization != .required else { return nil }
    var entries = [
      FormParameters.Entry(.responseType, "code"),
      FormParameters.Entry(.clientID, transaction.clientID.rawValue),
    ]
    if transaction.redirectURIWasSent {
      entries.append(FormParameters.Entry(.redirectURI, transaction.redirectURI.text))
    }
    if let scope = transaction.scope { entries.append(FormParameters.Entry(.scope, scope.text)) }
    if let state = transaction.state { entries.append(FormParameters.Entry(.state, state)) }
    if let challenge = transaction.challenge {
      entries.append(FormParameters.Entry(.codeChallenge, challenge.text))
      entries.append(FormParameters.Entry(.codeChallengeMethod, challenge.method.rawValue))
    }
    if transaction.responseMode != .query {
      entries.append(FormParameters.Entry(.responseMode, transaction.responseMode.rawValue))
    }
    let ticket = StartTicket(
      path: authorizationPath, query: FormEncoding.serialise(entries),
      expiry: now + AuthorizationEndpoint.transactionLifetime)
    return StartEndpoint.path(gateway.sealer.seal(ticket))
  }

  /// The path by which this request reached the authorization endpoint, or else the first configured path.
  var authorizationPath: String {
    let paths = policy.upstream.endpoints.authorization
    let path = restartedPath ?? String(request.path)
    return paths.contains(path) ? path : paths.first ?? "/"
  }

  /// The rejection for an upstream that did not answer.
  func rejection(for failure: UpstreamFailure) -> Rejection {
    switch failure.status {
    case 503: .upstreamUnavailable
    case 504: .upstreamTimedOut
    default: .upstreamFailed
    }
  }
}

extension Client {
  var displayName: String { self.name ?? self.id.rawValue }
}
