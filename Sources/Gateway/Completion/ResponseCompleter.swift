internal import ByteText
import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Sealing
import Stores

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
      if leaksUncompleted(location) {
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

  /// Returns true if the location sends a code or token to a protected redirect URI, except to the gateway's callback
  /// with `callback: network`: the callback endpoint completes such a response.
  private func leaksUncompleted(_ location: String) -> Bool {
    let locations = intercepted.gateway.snapshot.locations
    guard locations.leaksAuthorizationResponse(location) else { return false }
    return intercepted.policy.upstream.callback == .inPlace || !locations.isCallback(location)
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

extension Response {
  /// The URLs in header fields other than `Location` that a browser may request: `Refresh`, `Content-Location` and
  /// `Link`.
  var secondaryDestinations: [String] {
    headers.all("Refresh") + headers.all("Content-Location") + headers.all("Link").flatMap(LinkField.targets)
  }
}

/// Parses `Link` fields: lists of targets in angle brackets, each with parameters (RFC 8288, section 3). Browsers fetch
/// some targets without an action of the user, for example those with `rel=prefetch`.
enum LinkField {
  /// Returns the targets. If a closing bracket is missing, the rest of the field is the last target.
  static func targets(of field: String) -> [String] {
    var targets: [String] = []
    var rest = Substring(field).utf8[...]
    while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
      let target = rest[rest.index(after: start)...].prefix { $0 != UInt8(ascii: ">") }
      targets.append(String(decoding: target, as: UTF8.self))
      rest = rest[target.endIndex...]
    }
    return targets
  }
}

/// Changes the header fields of the upstream's login and consent pages for the browser.
enum UpstreamPageHeaders {
  /// Adds fields that protect a login or consent page, and removes fields that would prevent the redirect to the app or
  /// expose the page.
  ///
  /// - `frame-ancestors 'none'` and `X-Frame-Options: DENY` are added: no site may frame a login (RFC 9700, section
  ///   4.16).
  /// - `Referrer-Policy: same-origin` is added unless the page has a policy: codes and states in URLs stay on this
  ///   origin (section 4.2.4). With `no-referrer`, a form post would have `Origin: null`, which servers refuse as
  ///   cross-site.
  /// - `Cache-Control: no-store` is added unless the page has a `Cache-Control` field.
  /// - `form-action` is removed: browsers apply it to the whole redirect chain, including the redirect to the app
  ///   (`I-pages`).
  /// - CORS fields are removed: no script of another origin needs these pages (section 2.6).
  /// - `Secure` is added to cookies if `isSecure` is true.
  static func harden(_ response: inout Response, isSecure: Bool) {
    var kept = Headers()
    for field in response.headers.fields {
      switch field.name.lowercased() {
      case "content-security-policy":
        let value = withoutFormAction(field.value)
        if !value.isEmpty { kept.append(field.name, value) }
      case "x-frame-options": continue
      case let name where name.hasPrefix("access-control-"): continue
      case "set-cookie": kept.append(field.name, isSecure ? secured(field.value) : field.value)
      default: kept.append(field.name, field.value)
      }
    }
    kept.append("Content-Security-Policy", "frame-ancestors 'none'")
    kept.append("X-Frame-Options", "DENY")
    if !kept.contains("Referrer-Policy") { kept.append("Referrer-Policy", "same-origin") }
    if !kept.contains("Cache-Control") { kept.append("Cache-Control", "no-store") }
    response.headers = kept
  }

  /// Removes the directive `form-action` from all policies in the field, which commas separate (Content Security Policy
  /// Level 3, section 2.2).
  private static func withoutFormAction(_ field: String) -> String {
    field.split(separator: ",").map { policy in
      policy.split(separator: ";").map { $0.trimmed(while: \.isBlank) }.filter { directive in
        !directive.isEmpty && directive.prefix { !$0.isBlank }.lowercased() != "form-action"
      }.joined(separator: "; ")
    }.filter { !$0.isEmpty }.joined(separator: ", ")
  }

  /// Adds the attribute `Secure` if it is missing. An upstream omits it if it does not know that clients use TLS.
  static func secured(_ cookie: String) -> String {
    let isSecure = cookie.split(separator: ";").dropFirst().contains { attribute in
      attribute.drop { $0 == " " }.lowercased() == "secure"
    }
    return isSecure ? cookie : cookie + "; Secure"
  }
}
