internal import ByteText
import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Sealing
import Stores
import Time

/// The transaction to which a request belongs.
struct RunningTransaction {
  let transaction: AuthorizationTransaction
  /// The `state` of the transaction at the upstream (the sealed state).
  let state: String?
  /// True if this request began the transaction.
  let isBeginning: Bool
}

/// Forwards a response of the upstream's authorization endpoint, and completes it if it is an authorization response
/// (`I-completion`). To complete a response means to replace the upstream's code by a sealed code for the client, and
/// to send the result to the client's redirect URI.
struct ResponseCompleter {
  private let intercepted: InterceptedRequest
  private let session: BrowserSession?
  /// The transaction of the request; `nil` if it is unknown.
  private let running: RunningTransaction?
  private var transaction: AuthorizationTransaction? { running?.transaction }

  init(_ intercepted: InterceptedRequest, session: BrowserSession?, _ running: RunningTransaction?) {
    self.intercepted = intercepted
    self.session = session
    self.running = running
  }

  /// Returns the response for the browser: the completed authorization response, a refusal of a response that sends a
  /// code or token past the gateway, or the upstream's response with hardened header fields.
  ///
  /// - Parameter cookie: The `Set-Cookie` value to add; `nil` for none.
  func relay(_ answer: UpstreamResponse, adding cookie: String?) async -> Reply {
    var response = answer.head
    if let location = response.headers["Location"] {
      if let completed = await complete(location) {
        return .response(await replace(answer, by: completed, adding: cookie))
      }
      if intercepted.leaksUncompleted(location) {
        let refused = intercepted.respond(with: .here(.answerUnusable), transaction: transaction)
        return .response(await replace(answer, by: refused, adding: cookie))
      }
      if sendsCodeElsewhere(location) { return .response(await refuseElsewhere(answer, adding: cookie)) }
      response.headers.set("Location", onThisOrigin(location))
      if response.status == 307 || response.status == 308 { change(&response, to: redirectStatus(response)) }
    }
    let elsewhere = response.secondaryDestinations
    if elsewhere.contains(where: sendsCodeElsewhere) {
      return .response(await refuseElsewhere(answer, adding: cookie))
    }
    if elsewhere.contains(where: intercepted.gateway.snapshot.locations.leaksAuthorizationResponse) {
      let refused = intercepted.respond(with: .here(.answerUnusable), transaction: transaction)
      return .response(await replace(answer, by: refused, adding: cookie))
    }
    UpstreamPageHeaders.harden(&response, isSecure: intercepted.policy.gateway.origin.scheme == .https)
    // The URL contains the sealed state, and the response belongs to this request alone (RFC 9111, section 5.2.2.5).
    response.headers.set("Cache-Control", "no-store")
    if let cookie { response.headers.append("Set-Cookie", cookie) }
    return .relay(answer, response)
  }

  /// Returns true if the location contains a code for an origin other than the gateway and the upstream, and must not
  /// pass.
  ///
  /// Without a transaction, a code for an observed client may pass: the request may be the last step of a sign-in to
  /// that client in the same browser.
  private func sendsCodeElsewhere(_ location: String) -> Bool {
    guard intercepted.gateway.snapshot.locations.sendsCodeElsewhere(location) else { return false }
    return transaction != nil || !intercepted.isForObservedClient(location)
  }

  private func refuseElsewhere(_ answer: UpstreamResponse, adding cookie: String?) async -> Response {
    let refused = intercepted.respond(with: .here(.responseToOtherURI), transaction: transaction)
    return await replace(answer, by: refused, adding: cookie)
  }

  /// Changes the status, and removes the upstream's reason phrase, which belongs to the old status.
  private func change(_ response: inout Response, to status: Int) {
    guard status != response.status else { return }
    response.status = status
    response.reason = nil
  }

  /// Returns the status for a redirect with 307 or 308: 303 if the browser would repeat a POST, with the user's
  /// credentials, at another origin (RFC 9700, section 4.12); otherwise the same status.
  private func redirectStatus(_ response: Response) -> Int {
    let location = response.headers["Location"] ?? ""
    let stays =
      location.hasPrefix("/") && !location.hasPrefix("//")
      || location.hasPrefix(intercepted.policy.gateway.origin.description + "/")
    return stays || intercepted.request.method != "POST" ? response.status : 303
  }

  /// Returns the location with the gateway's origin in place of the upstream's.
  private func onThisOrigin(_ location: String) -> String {
    let upstream = intercepted.policy.upstream.origin.description
    guard location.hasPrefix(upstream) else { return location }
    let rest = location.dropFirst(upstream.count)
    guard rest.isEmpty || rest.hasPrefix("/") || rest.hasPrefix("?") else { return location }
    return intercepted.policy.gateway.origin.description + rest
  }

  /// Returns the gateway's response with the cookies of the upstream's response, which may begin or end a session.
  private func replace(_ answer: UpstreamResponse, by response: Response, adding cookie: String?) async -> Response {
    var response = response
    for field in intercepted.cookies(of: answer.head) { response.headers.append("Set-Cookie", field) }
    if let cookie { response.headers.append("Set-Cookie", cookie) }
    // Reading a short body to its end makes the connection usable for the next request.
    _ = try? await answer.collect()
    return response
  }

  /// Returns the completed response or its refusal; `nil` if the location is not an authorization response that can be
  /// assigned to a transaction, for example because it leads to a login page.
  private func complete(_ location: String) async -> Response? {
    guard let answer = UpstreamAuthorizationResponse(location: intercepted.absolute(location)) else { return nil }
    // A redirect to the authorization endpoint also contains the state, but neither a code nor an error.
    if let state = answer.state, isAnswer(answer) {
      // The transaction of this state is already known: this request created or decrypted the state.
      if let running, let carried = running.state, carried.utf8.span.isEqual(to: state.utf8.span) {
        return await complete(answer, running.transaction)
      }
      do throws(StoreError) {
        switch try await intercepted.gateway.states.open(state, now: intercepted.now) {
        case .value(let transaction): return await complete(answer, transaction)
        case .keyUnknown: return intercepted.respond(with: .here(.codeKeyUnknown))
        case .invalid: break
        }
      } catch {
        return intercepted.respond(with: .here(.storeUnavailable))
      }
    }
    // A response without a known state is completed only if it is an error, and only if the request belongs to a
    // transaction and the location is the redirect URI of that transaction.
    guard let transaction, answer.parameters.contains(.error), isAt(location, transaction.upstreamRedirectURI) else {
      return nil
    }
    return await complete(answer, transaction)
  }

  private func isAnswer(_ answer: UpstreamAuthorizationResponse) -> Bool {
    answer.parameters.contains(.code) || answer.parameters.contains(.error)
  }

  private func complete(
    _ answer: UpstreamAuthorizationResponse, _ transaction: AuthorizationTransaction
  ) async -> Response {
    let isOwnBeginning = running?.isBeginning ?? false && transaction.id == running?.transaction.id
    return await intercepted.finish(
      answer, transaction,
      browserMatches: isOwnBeginning || session?.isBound(to: transaction.browserSecretHash) ?? false
    )
  }

  /// Returns true if the location is the address, with or without a query or fragment.
  private func isAt(_ location: String, _ address: String) -> Bool {
    let text = intercepted.absolute(location)
    guard text.utf8.starts(with: address.utf8) else { return false }
    guard let next = text.utf8.dropFirst(address.utf8.count).first else { return true }
    return next == UInt8(ascii: "?") || next == UInt8(ascii: "&") || next == UInt8(ascii: "#")
  }
}

extension InterceptedRequest {
  /// Resolves a location that begins with one slash against the gateway's origin, as a browser does. Returns any other
  /// location unchanged.
  func absolute(_ location: String) -> String {
    guard location.hasPrefix("/"), !location.hasPrefix("//") else { return location }
    return policy.gateway.origin.description + location
  }

  /// Returns true if the location sends a code or token to a protected redirect URI, except to the gateway's callback
  /// with `callback: network`: the callback endpoint completes such a response.
  fileprivate func leaksUncompleted(_ location: String) -> Bool {
    let locations = gateway.snapshot.locations
    guard locations.leaksAuthorizationResponse(location) else { return false }
    return policy.upstream.callback == .inPlace || !locations.isCallback(location)
  }

  /// Returns true if the location is a redirect URI of an observed client, or the response to an observed request that
  /// this process remembers.
  func isForObservedClient(_ location: String) -> Bool {
    guard policy.isObserving else { return false }
    if gateway.snapshot.locations.isObserved(location) { return true }
    guard let answer = UpstreamAuthorizationResponse(location: location), let link = ObservedFlow.link(answer) else {
      return false
    }
    return gateway.resources.observed.isKnown(link.link)
  }

  /// Returns the upstream's `Set-Cookie` values for the browser: without the gateway's own cookie, and with `Secure` if
  /// the gateway's origin is https.
  func cookies(of response: Response) -> [String] {
    let fields = response.headers.all("Set-Cookie")
    guard !fields.isEmpty else { return [] }
    let own = gateway.snapshot.cookie.name.lowercased()
    let isSecure = policy.gateway.origin.scheme == .https
    return fields.compactMap { field in
      let name = field.utf8.prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") }
        .filter { $0 != 0x20 && $0 != 0x09 }
      guard String(decoding: name, as: UTF8.self).lowercased() != own else { return nil }
      return isSecure ? UpstreamPageHeaders.secured(field) : field
    }
  }

  /// True if another site posted a form and the request has no cookie of the gateway: browsers attach no `SameSite=Lax`
  /// cookie to such a request. The sign-in at a federated server ends with such a form (`upstream.cross_site_login`).
  private var isCrossSitePost: Bool {
    request.method == "POST" && request.headers["Sec-Fetch-Site"] == "cross-site"
      && !request.headers.all("Cookie").contains { $0.contains(gateway.snapshot.cookie.name + "=") }
  }

  /// Decides an authorization response of the upstream and returns the response to the client.
  func finish(
    _ answer: UpstreamAuthorizationResponse, _ transaction: AuthorizationTransaction, browserMatches: Bool
  ) async -> Response {
    trail.transaction = transaction.id
    note(clientID: transaction.clientID.rawValue)
    trail.note(transaction.redirectURI)
    let facts = CompletionFacts(
      browserMatches: browserMatches,
      request: ReflectedCodeScanner(target: request.target, cookies: request.headers.all("Cookie"), body: request.body),
      now: now)
    let outcome = Enforcement.decideCompletion(answer, transaction: transaction, facts: facts, policy: policy)
    trail.note(outcome)
    switch outcome.decision {
    case .forward(let permit): return await deliver(permit)
    case .reject(let refusal):
      if refusal.rejection == .browserUnbound, isCrossSitePost { trail.findings.append("cross-site-post") }
      return self.respond(with: refusal, transaction: transaction)
    case .pass: return self.respond(with: .here(.answerUnusable), transaction: transaction)
    }
  }

  /// Claims the upstream's code for the transaction and returns the response with the sealed code. If the store is full
  /// or unavailable, the client gets an error in place of the code, because another transaction could use the same
  /// code.
  private func deliver(_ permit: CompletionPermit) async -> Response {
    let transaction = permit.transaction
    do throws(StoreError) {
      let isClaimed = try await gateway.resources.codes.claim(
        permit.code.digest, for: transaction.id, holder: holder(permit.client),
        lifetime: policy.upstream.codeLifetime, now: now)
      guard isClaimed else { return respond(with: .here(.answerReplayed), transaction: transaction) }
      return deliver(permit.response(code: gateway.sealer.seal(permit.code)), to: permit.client)
    } catch {
      return respond(with: permit.refusal(.storeUnavailable), transaction: transaction)
    }
  }
}

extension Response {
  /// The URLs in header fields other than `Location` that a browser may request: `Refresh`, `Content-Location` and
  /// `Link`.
  var secondaryDestinations: [String] {
    headers.all("Refresh") + headers.all("Content-Location") + headers.all("Link").flatMap(LinkField.targets)
  }
}
