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
  /// The sealed `state` that the gateway sent upstream for the transaction; `nil` if the caller does not know it.
  let state: String?
  /// True if this request began the transaction.
  let isNew: Bool
}

/// Handles a response of the upstream's authorization endpoint. An authorization response is completed
/// (`I-completion`): the gateway replaces the upstream's code by a sealed code for the client and sends the result to
/// the client's redirect URI. Other responses, such as login pages, are forwarded with changed header fields.
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

  /// Returns the response for the browser: the completed authorization response, a refusal, or the upstream's response
  /// with hardened header fields. A response is refused if it would send a code or token directly to a client, or a
  /// code to an origin other than the gateway's and the upstream's.
  ///
  /// - Parameter cookie: The `Set-Cookie` value to add; `nil` for none.
  func relay(_ upstreamResponse: UpstreamResponse, addingCookie cookie: String?) async -> Reply {
    var response = upstreamResponse.head
    if let location = response.headers["Location"] {
      if let completed = await complete(location) {
        return .response(await replace(upstreamResponse, by: completed, addingCookie: cookie))
      }
      if leaksUncompleted(location) {
        let refused = intercepted.respond(with: .withoutRedirect(.upstreamResponseUnusable), transaction: transaction)
        return .response(await replace(upstreamResponse, by: refused, addingCookie: cookie))
      }
      if leaksCodeToOtherOrigin(location) {
        return .response(await refuseOtherOrigin(upstreamResponse, addingCookie: cookie))
      }
    }
    let secondaryDestinations = response.secondaryDestinations(intercepted.gateway.snapshot.locations)
    if secondaryDestinations.contains(where: leaksCodeToOtherOrigin) {
      return .response(await refuseOtherOrigin(upstreamResponse, addingCookie: cookie))
    }
    if secondaryDestinations.contains(where: intercepted.gateway.snapshot.locations.leaksAuthorizationResponse) {
      let refused = intercepted.respond(with: .withoutRedirect(.upstreamResponseUnusable), transaction: transaction)
      return .response(await replace(upstreamResponse, by: refused, addingCookie: cookie))
    }
    if response.headers.contains("Location") || !secondaryDestinations.isEmpty {
      intercepted.replaceOrigins(in: &response)
      intercepted.replaceRepeatedPost(in: &response)
    }
    intercepted.harden(&response)
    // A cache must not store the response, because the response is for this request only, and the URL of the request
    // contains the sealed state (RFC 9111, section 5.2.2.5).
    response.headers.set("Cache-Control", "no-store")
    if let cookie { response.headers.append("Set-Cookie", cookie) }
    return .relay(upstreamResponse, response)
  }

  /// Returns true if the location sends a code or token to a protected URI. With `callback: network`, the gateway's
  /// callback is an exception, because the callback endpoint completes the response.
  private func leaksUncompleted(_ location: String) -> Bool {
    let locations = intercepted.gateway.snapshot.locations
    guard locations.leaksAuthorizationResponse(location) else { return false }
    return intercepted.policy.upstream.callback == .inPlace || !locations.leadsToCallback(location)
  }

  /// Returns true if the location must not pass because it sends a code to an origin other than the gateway's and the
  /// upstream's.
  ///
  /// If the request belongs to no transaction, a code for an observed client may pass, because the request may be the
  /// last step of a sign-in to that client in the same browser.
  private func leaksCodeToOtherOrigin(_ location: String) -> Bool {
    guard intercepted.gateway.snapshot.locations.sendsCodeToOtherOrigin(location) else { return false }
    return transaction != nil || !intercepted.leadsToObservedClient(location)
  }

  private func refuseOtherOrigin(_ upstreamResponse: UpstreamResponse, addingCookie cookie: String?) async -> Response {
    let refused = intercepted.respond(with: .withoutRedirect(.responseToOtherURI), transaction: transaction)
    return await replace(upstreamResponse, by: refused, addingCookie: cookie)
  }

  /// Returns the gateway's response with the cookies of the upstream's response, which may begin or end a session at
  /// the upstream.
  private func replace(
    _ upstreamResponse: UpstreamResponse, by response: Response, addingCookie cookie: String?
  ) async -> Response {
    var response = response
    for field in intercepted.cookies(of: upstreamResponse.head) { response.headers.append("Set-Cookie", field) }
    if let cookie { response.headers.append("Set-Cookie", cookie) }
    // The connection can be used for the next request only after the body has been read to its end.
    _ = try? await upstreamResponse.collect()
    return response
  }

  /// Returns the completed authorization response, or a refusal. Returns `nil` if the location is not an authorization
  /// response of a known transaction, for example if it leads to a login page.
  private func complete(_ location: String) async -> Response? {
    guard let authorizationResponse = UpstreamAuthorizationResponse(location: intercepted.absolute(location)) else {
      return nil
    }
    // A redirect to the authorization endpoint itself contains a state, but neither a code nor an error, so its state
    // is not opened here.
    if let state = authorizationResponse.state, hasCodeOrError(authorizationResponse) {
      // If this request created or decrypted the state, the transaction of the state is already known.
      if let running, let knownState = running.state, knownState.utf8.span.isEqual(to: state.utf8.span) {
        return await complete(authorizationResponse, running.transaction)
      }
      do throws(StoreError) {
        switch try await intercepted.gateway.states.open(state, now: intercepted.now) {
        case .value(let transaction): return await complete(authorizationResponse, transaction)
        case .keyUnknown: return intercepted.respond(with: .withoutRedirect(.sealingKeyUnknown))
        case .invalid: break
        }
      } catch {
        return intercepted.respond(with: .withoutRedirect(.storeUnavailable))
      }
    }
    // A response without the state of a transaction is completed only if it is an error, the request belongs to a
    // transaction, and the location is the upstream redirect URI of that transaction.
    guard let transaction, authorizationResponse.parameters.contains(.error),
      leads(location, to: transaction.upstreamRedirectURI)
        || authorizationResponse.isSent(to: transaction.upstreamRedirectURI)
    else {
      return nil
    }
    return await complete(authorizationResponse, transaction)
  }

  private func hasCodeOrError(_ authorizationResponse: UpstreamAuthorizationResponse) -> Bool {
    authorizationResponse.parameters.contains(.code) || authorizationResponse.parameters.contains(.error)
  }

  private func complete(
    _ authorizationResponse: UpstreamAuthorizationResponse, _ transaction: AuthorizationTransaction
  ) async -> Response {
    let beganInThisRequest = running?.isNew ?? false && transaction.id == running?.transaction.id
    return await intercepted.completeOrRefuse(
      authorizationResponse, transaction,
      browserMatches: beganInThisRequest || session?.isBound(to: transaction.browserSecretHash) ?? false
    )
  }

  /// Returns true if the location is the URI, possibly followed by parameters or a fragment.
  private func leads(_ location: String, to uri: String) -> Bool {
    let text = intercepted.absolute(location)
    guard text.utf8.starts(with: uri.utf8) else { return false }
    guard let next = text.utf8.dropFirst(uri.utf8.count).first else { return true }
    return next == UInt8(ascii: "?") || next == UInt8(ascii: "&") || next == UInt8(ascii: "#")
  }
}

extension InterceptedRequest {
  /// Replaces the upstream's origins by the gateway's in the fields that redirect a browser, and records that a URL had
  /// http in place of https.
  func replaceOrigins(in response: inout Response) {
    if upstream.replaceOrigins(in: &response.headers) {
      trail.findings.append(ResponseFinding.insecureLocation.rawValue)
    }
  }

  /// Hardens a page of the upstream, and records a `Domain` of a cookie that was dropped.
  func harden(_ response: inout Response) {
    if UpstreamPageHeaders.harden(&response, for: policy.gateway.origin) {
      trail.findings.append(ResponseFinding.foreignCookieDomain.rawValue)
    }
  }

  /// True if browsers reject a cookie of the response because of its `Domain`.
  func hasForeignCookieDomain(_ response: Response) -> Bool {
    response.headers.all("Set-Cookie").contains {
      CookieFilter.droppingForeignDomains($0, host: policy.gateway.origin.host) != nil
    }
  }
}

extension Response {
  /// The URLs in header fields other than `Location` that a browser may request: `Refresh`, `Content-Location`, and the
  /// targets of `Link` that may contain a code or a token.
  func secondaryDestinations(_ locations: LocationGuard) -> [String] {
    headers.all("Refresh") + headers.all("Content-Location") + locations.suspectTargets(of: headers.all("Link"))
  }
}

/// Parses `Link` fields. A field contains targets in angle brackets, each with parameters (RFC 8288, section 3).
/// Browsers request some targets without an action of the user, for example those with `rel=prefetch`.
enum LinkField {
  /// Calls `body` with each target, until `body` returns false. If a closing bracket is missing, the rest of the field is
  /// the last target.
  static func forEachTarget(of field: Span<UInt8>, _ body: (Span<UInt8>) -> Bool) {
    var next = field.firstIndex(of: UInt8(ascii: "<"))
    while let start = next {
      let end = field.firstIndex(of: UInt8(ascii: ">"), from: start + 1) ?? field.count
      guard body(field.extracting(start + 1..<end)) else { return }
      next = field.firstIndex(of: UInt8(ascii: "<"), from: end)
    }
  }
}

/// Changes the header fields of the upstream's login and consent pages for the browser.
enum UpstreamPageHeaders {
  /// Adds fields that protect a login or consent page, and removes fields that would prevent the redirect to the app or
  /// expose the page.
  ///
  /// - `frame-ancestors 'none'` and `X-Frame-Options: DENY` are added, because no site may frame a login page (RFC
  ///   9700, section 4.16).
  /// - `Referrer-Policy: same-origin` is added unless the page has such a field, so that codes and states in URLs do
  ///   not reach other origins (RFC 9700, section 4.2.4). With `no-referrer`, a form post would have `Origin: null`,
  ///   and servers would refuse it as cross-site.
  /// - `Cache-Control: no-store` is added unless the page has such a field.
  /// - `form-action` is removed, because browsers apply it to the whole redirect chain after a form is submitted, and
  ///   so to the redirect to the app (`I-pages`).
  /// - CORS fields are removed, because no script of another origin needs these pages (RFC 9700, section 2.6).
  /// - `Secure` is added to cookies if the gateway's origin is https, and a `Domain` that does not contain its host is
  ///   removed (`cookie(_:for:)`).
  ///
  /// - Returns: True if a `Domain` was removed.
  static func harden(_ response: inout Response, for gateway: Origin) -> Bool {
    var kept = Headers()
    var hasForeignDomain = false
    for field in response.headers.fields {
      switch field.name.lowercased() {
      case "content-security-policy":
        let value = withoutFormAction(field.value)
        if !value.isEmpty { kept.append(field.name, value) }
      case "x-frame-options": continue
      case let name where name.hasPrefix("access-control-"): continue
      case "set-cookie":
        let cookie = cookie(field.value, for: gateway)
        if cookie.hasForeignDomain { hasForeignDomain = true }
        kept.append(field.name, cookie.value)
      default: kept.append(field.name, field.value)
      }
    }
    kept.append("Content-Security-Policy", "frame-ancestors 'none'")
    kept.append("X-Frame-Options", "DENY")
    if !kept.contains("Referrer-Policy") { kept.append("Referrer-Policy", "same-origin") }
    if !kept.contains("Cache-Control") { kept.append("Cache-Control", "no-store") }
    response.headers = kept
    return hasForeignDomain
  }

  /// Returns a `Set-Cookie` value that browsers accept from the gateway, and true if they would have rejected it because of
  /// its `Domain`: an upstream that does not know its public host may set another one.
  static func cookie(_ value: String, for gateway: Origin) -> (value: String, hasForeignDomain: Bool) {
    let dropped = CookieFilter.droppingForeignDomains(value, host: gateway.host)
    let kept = dropped ?? value
    return (gateway.scheme == .https ? secured(kept) : kept, dropped != nil)
  }

  /// Removes the directive `form-action` from the policies in the field. The policies are separated by commas (Content
  /// Security Policy Level 3, section 2.2).
  private static func withoutFormAction(_ field: String) -> String {
    let bytes = field.utf8.span
    var kept: [UInt8] = []
    var isEmptyPolicy = true
    bytes.forEachPart(separatedBy: UInt8(ascii: ",")) { policy in
      isEmptyPolicy = true
      bytes.forEachPart(separatedBy: UInt8(ascii: ";"), in: policy) { part in
        let directive = bytes.extracting(part)
        let end = (0..<directive.count).first { directive[$0].isBlank } ?? directive.count
        if directive.isEmpty || directive.extracting(0..<end).isEqualIgnoringCase(to: "form-action".utf8.span) {
          return true
        }
        if !isEmptyPolicy { kept.append("; ") } else if !kept.isEmpty { kept.append(", ") }
        kept.append(copying: directive)
        isEmptyPolicy = false
        return true
      }
      return true
    }
    return String(decoding: kept, as: UTF8.self)
  }

  /// Adds the attribute `Secure` if it is missing. An upstream omits the attribute if it does not know that browsers
  /// use https.
  private static func secured(_ cookie: String) -> String {
    let bytes = cookie.utf8.span
    guard let end = bytes.firstIndex(of: UInt8(ascii: ";")) else { return cookie + "; Secure" }
    var isSecure = false
    bytes.forEachPart(separatedBy: UInt8(ascii: ";"), in: end + 1..<bytes.count) { attribute in
      isSecure = bytes.extracting(attribute).isEqualIgnoringCase(to: "secure".utf8.span)
      return !isSecure
    }
    return isSecure ? cookie : cookie + "; Secure"
  }
}
