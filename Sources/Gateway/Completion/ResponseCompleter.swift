internal import Bytes
import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Sealing
import Stores

/// The transaction that a request belongs to.
struct RunningTransaction {
  let transaction: AuthorizationTransaction
  /// The state that carries the transaction through the upstream, if the request has it.
  let state: String?
  /// True if this request began the transaction.
  let isBeginning: Bool
}

/// Turns the upstream's authorization response into the client's (`I-completion`).
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

  /// Passes the upstream's response on, completed if it is an authorization response.
  func relay(_ answer: UpstreamResponse, adding cookie: String?) async -> Reply {
    var response = answer.head
    if let location = response.headers["Location"] {
      if let completed = await complete(location) {
        return .response(await replace(answer, by: completed, adding: cookie))
      }
      if intercepted.isUnansweredHere(location) {
        let refused = intercepted.respond(with: .here(.answerUnusable), transaction: transaction)
        return .response(await replace(answer, by: refused, adding: cookie))
      }
      if handsCodeElsewhere(location) { return .response(await refuseElsewhere(answer, adding: cookie)) }
      response.headers.set("Location", onThisOrigin(location))
      if response.status == 307 || response.status == 308 { change(&response, to: redirectStatus(response)) }
    }
    let elsewhere = response.secondaryDestinations
    if elsewhere.contains(where: handsCodeElsewhere) {
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

  /// Returns true if a code would go to an origin other than the server's, without a state by which it could be
  /// completed.
  ///
  /// A form without a transaction may be the last step of an observed client's sign-in in the same browser.
  private func handsCodeElsewhere(_ location: String) -> Bool {
    guard intercepted.gateway.snapshot.locations.leavesWithCode(location) else { return false }
    return transaction != nil || !intercepted.isForObservedClient(location)
  }

  private func refuseElsewhere(_ answer: UpstreamResponse, adding cookie: String?) async -> Response {
    let refused = intercepted.respond(with: .here(.responseToOtherURI), transaction: transaction)
    return await replace(answer, by: refused, adding: cookie)
  }

  /// Changes the status and drops the upstream's reason phrase, which belongs to the old status.
  private func change(_ response: inout Response, to status: Int) {
    guard status != response.status else { return }
    response.status = status
    response.reason = nil
  }

  /// Returns 303 for a redirect that would make the browser post credentials to another origin (RFC 9700, section
  /// 4.12).
  private func redirectStatus(_ response: Response) -> Int {
    let location = response.headers["Location"] ?? ""
    let stays =
      location.hasPrefix("/") && !location.hasPrefix("//")
      || location.hasPrefix(intercepted.policy.gateway.origin.description + "/")
    return stays || intercepted.request.method != "POST" ? response.status : 303
  }

  private func onThisOrigin(_ location: String) -> String {
    let upstream = intercepted.policy.upstream.origin.description
    guard location.hasPrefix(upstream) else { return location }
    let rest = location.dropFirst(upstream.count)
    guard rest.isEmpty || rest.hasPrefix("/") || rest.hasPrefix("?") else { return location }
    return intercepted.policy.gateway.origin.description + rest
  }

  /// Sends the gateway's response in place of the upstream's. The cookies of the upstream's response, for a session
  /// that begins or ends, are kept.
  private func replace(_ answer: UpstreamResponse, by response: Response, adding cookie: String?) async -> Response {
    var response = response
    for field in intercepted.cookies(of: answer.head) { response.headers.append("Set-Cookie", field) }
    if let cookie { response.headers.append("Set-Cookie", cookie) }
    // A short body read to its end keeps the connection for the next request.
    _ = try? await answer.collect()
    return response
  }

  /// Returns the response to the client; `nil` if the location is not an authorization response but, for example, a
  /// login page.
  private func complete(_ location: String) async -> Response? {
    guard let answer = UpstreamAuthorizationResponse(location: intercepted.absolute(location)) else { return nil }
    // A redirect back to the authorization endpoint also carries the state, but is no authorization response.
    if let state = answer.state, isAnswer(answer) {
      // This request sealed or opened the same state, so reuse its transaction.
      if let running, let carried = running.state, carried.utf8.span.isEqual(to: state.utf8.span) {
        return await complete(answer, running.transaction)
      }
      do throws(StoreError) {
        switch try await intercepted.gateway.states.open(state, now: intercepted.now) {
        case .value(let opened): return await complete(answer, opened)
        case .keyUnknown: return intercepted.respond(with: .here(.codeKeyUnknown))
        case .invalid: break
        }
      } catch {
        return intercepted.respond(with: .here(.storeUnavailable))
      }
    }
    // Without a state only an error counts, and only if its client is certain.
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

  private func isAt(_ location: String, _ address: String) -> Bool {
    let text = intercepted.absolute(location)
    guard text.utf8.starts(with: address.utf8) else { return false }
    guard let next = text.utf8.dropFirst(address.utf8.count).first else { return true }
    return next == UInt8(ascii: "?") || next == UInt8(ascii: "&") || next == UInt8(ascii: "#")
  }
}

extension InterceptedRequest {
  /// Resolves a relative location against the gateway's origin, as the browser would.
  func absolute(_ location: String) -> String {
    guard location.hasPrefix("/"), !location.hasPrefix("//") else { return location }
    return policy.gateway.origin.description + location
  }

  /// Returns true if the location hands out a code or token that is not completed by this response or, with
  /// `callback: network`, by the callback endpoint.
  fileprivate func isUnansweredHere(_ location: String) -> Bool {
    let locations = gateway.snapshot.locations
    guard locations.leaksAuthorizationResponse(location) else { return false }
    return policy.upstream.callback == .inPlace || !locations.isCallback(location)
  }

  /// Returns true if the location is a redirect URI of an observed client, or answers an observed request that this
  /// gateway knows.
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
    let own = gateway.snapshot.cookie.name.lowercased()
    let isSecure = policy.gateway.origin.scheme == .https
    return response.headers.all("Set-Cookie").compactMap { field in
      let name = field.utf8.prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") }
        .filter { $0 != 0x20 && $0 != 0x09 }
      guard String(decoding: name, as: UTF8.self).lowercased() != own else { return nil }
      return isSecure ? UpstreamPageHeaders.secured(field) : field
    }
  }

  /// True if a form of another site was posted without the gateway's cookie, because browsers attach no `SameSite=Lax`
  /// cookie to it. The sign-in at a federated server ends with such a form (`upstream.cross_site_login`).
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

  /// Claims the upstream's code for the transaction and sends the wrapped code to the client. If the store is
  /// unavailable, the client gets no code: a second transaction could present the same one.
  private func deliver(_ permit: CompletionPermit) async -> Response {
    let transaction = permit.transaction
    do throws(StoreError) {
      let isClaimed = try await gateway.resources.codes.claim(
        permit.code.digest, for: transaction.id, holder: holder(permit.client),
        lifetime: Int64(policy.upstream.codeLifetime), now: now)
      guard isClaimed else { return respond(with: .here(.answerReplayed), transaction: transaction) }
      return deliver(permit.response(code: gateway.sealer.seal(permit.code)), to: permit.client)
    } catch {
      return respond(with: permit.refusal(.storeUnavailable), transaction: transaction)
    }
  }
}

extension Response {
  /// The URLs other than `Location` to which the response sends a client.
  var secondaryDestinations: [String] {
    headers.all("Refresh") + headers.all("Content-Location") + headers.all("Link").flatMap(LinkField.targets)
  }
}
