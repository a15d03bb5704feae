import Cryptography
import Enforcement
import HTTP
import OAuth
import Policy
import Sealing
import Stores
import Telemetry
import Time

/// The gateway's own consent page (`I-consent`; RFC 8252, section 8.6).
///
/// The gateway shows the page before it sends a request upstream, unless it remembers the consent (`RememberedConsents`).
/// The form on the page contains the authorization request, sealed (encrypted and authenticated) and bound to the browser,
/// so the gateway need not store the request. When the user has decided, all rules run again. If the policy has changed so
/// that the approval would be for something else than the page showed, the page is shown again.
struct ConsentEndpoint {
  private static let path = GatewaySettings.ownPath + "consent"

  private let intercepted: InterceptedRequest

  init(_ intercepted: InterceptedRequest) {
    self.intercepted = intercepted
  }

  /// Returns the page that asks the user for consent; an error page for a request that the form cannot contain.
  ///
  /// - Parameters:
  ///   - permit: The permission to send the request upstream once the user has approved.
  ///   - request: The authorization request, which the page's form contains sealed.
  ///   - known: The session of the browser; `nil` for a new browser.
  ///   - isPushed: True if the client pushed the request (RFC 9126).
  ///   - path: The path of the authorization endpoint that received the request; `nil` if it is that of this request.
  func page(
    for permit: AuthorizationPermit, _ request: AuthorizationRequest, _ known: BrowserSession?, isPushed: Bool,
    path: String? = nil
  ) -> Response {
    let expiry = intercepted.now + AuthorizationEndpoint.transactionLifetime
    let session = BrowserSession.continuing(
      known, permit, until: expiry, now: intercepted.now, intercepted.gateway.random)
    let browserHash = session.hash
    intercepted.recordReuseAcrossBrowsers(of: permit.challenge, browserHash: browserHash)
    guard
      let token = sealedTicket(
        for: permit, request, browserHash: browserHash, expiry: expiry, isPushed: isPushed, path: path)
    else { return intercepted.respond(with: .withoutRedirect(.parametersTooMany)) }
    intercepted.trail.step = .consentPage
    var response = intercepted.pages.consent(
      ConsentPage(
        clientID: permit.client.id.rawValue, clientName: permit.client.name,
        documentHost: intercepted.documentURL(permit.client.id.rawValue)?.authority,
        isSelfNamed: permit.client.isUnlisted,
        identity: permit.identity, destination: RedirectDestination(permit.redirectURI),
        scopes: permit.upstreamScope.map { $0.text.split(separator: " ").map(String.init) } ?? [],
        resource: permit.resource.map { ConsentPage.Resource(name: $0.name, identifier: $0.uri.text) },
        action: ConsentEndpoint.path, token: token))
    // With `no-referrer`, browsers send `Origin: null` with a POST. `isSameOrigin` needs the real origin.
    if intercepted.gateway.snapshot.cookie.isCrossSite { response.headers.set("Referrer-Policy", "same-origin") }
    response.headers.append(
      "Set-Cookie", intercepted.gateway.snapshot.cookie.setCookieValue(for: session, intercepted.gateway.sealer))
    return response
  }

  /// Returns the sealed request for the form of the page; `nil` if it is longer than a pushed request may be, or than the
  /// form may send back.
  private func sealedTicket(
    for permit: AuthorizationPermit, _ request: AuthorizationRequest, browserHash: [UInt8], expiry: UnixTime,
    isPushed: Bool, path: String?
  ) -> String? {
    let query = request.parameters.serialised
    guard query.utf8.count <= PushedRequests.maximumLength else { return nil }
    let ticket = ConsentTicket(
      transaction: intercepted.ensureTransactionID(), path: path ?? intercepted.authorizationPath, query: query,
      browserHash: browserHash, expiry: expiry, isPushed: isPushed, isRestarted: permit.isRestarted,
      document: intercepted.documentToSeal(for: permit), subject: permit.consentDigest)
    let token = intercepted.gateway.sealer.seal(ticket)
    return token.utf8.count <= FormParameters.maximumValueBytes - ConsentEndpoint.otherValues ? token : nil
  }

  /// More than the length of the other values of the form.
  private static let otherValues = 64

  /// Handles the user's decision.
  func respond() async -> Response {
    let request = intercepted.request
    let isForm = FormContent.isForm(
      types: request.headers.all("Content-Type"), encodings: request.headers.all("Content-Encoding"))
    guard request.method == "POST", isForm, let form = FormParameters(parsing: request.body),
      let token = form[named: ConsentPage.Field.token],
      let ticket = try? intercepted.gateway.sealer.open(ConsentTicket.self, from: token),
      let session = intercepted.session(), session.isBound(to: ticket.browserHash), isSameOrigin
    else { return refuseForgedForm() }
    intercepted.chargeWork()
    intercepted.trail.transaction = ticket.transaction
    guard ticket.expiry > intercepted.now else {
      return intercepted.respond(with: .withoutRedirect(.transactionExpired))
    }

    let original = AuthorizationRequest(
      method: "GET", query: Substring(ticket.query), userAgent: request.headers["User-Agent"])
    // The decision is on what the user has seen. A later version of the document counts for the next request.
    if let id = original.parameters[.clientID], let metadata = ticket.document {
      intercepted.document = ClientDocumentInUse(clientID: ClientID(id), metadata: metadata)
    }
    intercepted.recordClient(id: original.parameters[.clientID])
    let outcome = Enforcement.decideAuthorization(
      original, policy: intercepted.policy, stateIsSealed: false, isPushed: ticket.isPushed, requestWasSealed: true,
      isRestarted: ticket.isRestarted, now: ticket.isPushed ? nil : intercepted.now,
      unlisted: intercepted.unlistedClient(original.parameters[.clientID]))
    intercepted.trail.record(outcome)
    guard let permit = outcome.permit else {
      return intercepted.respond(with: outcome.refusal ?? .withoutRedirect(.transactionNoLongerValid))
    }
    intercepted.trail.recordRedirectKind(of: permit.redirectURI)
    guard form[named: ConsentPage.Field.decision] == ConsentPage.Field.approve else {
      return deny(permit, session)
    }
    guard permit.consentDigest == ticket.subject else {
      intercepted.trail.findings.append("consent-outdated")
      return page(for: permit, original, session, isPushed: ticket.isPushed, path: ticket.path)
    }
    var approving = session
    if let subject = ConsentSubject(permit, intercepted.gateway.snapshot.cookie, intercepted.policy) {
      approving.consents.add(subject, now: intercepted.now)
    }
    return await startTransaction(permit, ticket, approving)
  }

  /// Answers that the user has refused. Earlier consents for the client are forgotten, so that it does not get a code
  /// without the page the next time.
  private func deny(_ permit: AuthorizationPermit, _ session: BrowserSession) -> Response {
    var response = intercepted.respond(with: permit.errorResponse(for: .consentDenied))
    var session = session
    if session.consents.removeAll(for: permit.client.id) {
      let snapshot = intercepted.gateway.snapshot
      response.headers.append(
        "Set-Cookie", snapshot.cookie.setCookieValue(for: session, intercepted.gateway.sealer))
    }
    return response
  }

  /// True if a page on the gateway's origin posted the form, according to the field `Sec-Fetch-Site`. For a browser that
  /// does not send this field, a `SameSite=Lax` cookie is sufficient proof, because browsers do not send such a cookie
  /// with a form from another site (`I-browser`). With a `SameSite=None` cookie, the field `Origin` decides.
  private var isSameOrigin: Bool {
    let headers = intercepted.request.headers
    if let site = headers["Sec-Fetch-Site"] { return site == "same-origin" }
    guard intercepted.gateway.snapshot.cookie.isCrossSite else { return true }
    return headers["Origin"] == intercepted.policy.gateway.origin.description
  }

  /// Starts the transaction and redirects the browser to the authorization endpoint, with the sealed state of the
  /// transaction. The gateway forwards the browser's next request, which follows this redirect, to the upstream.
  private func startTransaction(
    _ permit: AuthorizationPermit, _ ticket: ConsentTicket, _ session: BrowserSession
  ) async -> Response {
    do throws(StoreError) {
      let start = try await TransactionStart(permit, session, intercepted, id: ticket.transaction, path: ticket.path)
      intercepted.trail.step = .consent
      var response = intercepted.redirect(to: start.target)
      response.headers.append("Set-Cookie", start.cookie)
      return response
    } catch {
      return intercepted.refusal(error, for: permit)
    }
  }

  /// Refuses a request that is not the form of a consent page of this browser: another site may have caused the request
  /// (RFC 6749, section 10.12).
  private func refuseForgedForm() -> Response {
    intercepted.trail.recordRefusal(.browserMismatch)
    var page = ErrorPage(.browserMismatch, detail: "the form does not belong to this browser; start again in the app")
    page.status = 403
    return intercepted.pages.error(page)
  }
}

/// The authorization request in the consent form, which the gateway seals (encrypts and authenticates).
struct ConsentTicket: Sealable {
  static var purpose: Purpose { .consent }
  /// The version of the format.
  private static let formatVersion: UInt8 = 4
  private static let hashLength = 32

  /// The id of the transaction that begins when the user approves. The log line of the consent page has the same id.
  let transaction: TransactionID
  /// The path of the authorization endpoint that received the request.
  let path: String
  /// The parameters of the authorization request, form-encoded.
  let query: String
  /// The SHA-256 digest of the browser's secret (`BrowserSession`).
  let browserHash: [UInt8]
  /// The time at which the form expires.
  let expiry: UnixTime
  /// True if the client pushed the request.
  let isPushed: Bool
  /// True if the user restarted the sign-in by a link of the gateway (`StartTicket`).
  let isRestarted: Bool
  /// The metadata in the document of the client with the redirect URI of the request, if the id of the client is the URL
  /// of such a document.
  let document: ClientMetadata?
  /// The digest of what the user decides on (`AuthorizationPermit.consentDigest`).
  let subject: [UInt8]

  private struct Flags: OptionSet {
    let rawValue: UInt8
    static let pushed = Flags(rawValue: 1)
    static let restarted = Flags(rawValue: 2)
    static let document = Flags(rawValue: 4)
    static let all: Flags = [.pushed, .restarted, .document]
  }

  init(
    transaction: TransactionID, path: String, query: String, browserHash: [UInt8], expiry: UnixTime, isPushed: Bool,
    isRestarted: Bool, document: ClientMetadata? = nil, subject: [UInt8]
  ) {
    self.transaction = transaction
    self.isPushed = isPushed
    self.isRestarted = isRestarted
    self.document = document
    self.subject = subject
    self.path = path
    self.query = query
    self.browserHash = browserHash
    self.expiry = expiry
  }

  init(from payload: inout PayloadReader) throws(PayloadError) {
    guard try payload.readByte() == ConsentTicket.formatVersion else { throw PayloadError() }
    let flags = Flags(rawValue: try payload.readByte())
    guard flags.isSubset(of: .all) else { throw PayloadError() }
    isPushed = flags.contains(.pushed)
    isRestarted = flags.contains(.restarted)
    guard let id = TransactionID(bytes: try payload.readBytes(count: TransactionID.byteCount)) else {
      throw PayloadError()
    }
    transaction = id
    expiry = UnixTime(seconds: Int64(clamping: try payload.readNumber()))
    browserHash = try payload.readBytes(count: ConsentTicket.hashLength)
    subject = try payload.readBytes(count: ConsentTicket.hashLength)
    path = try payload.readText()
    query = try payload.readText()
    document = flags.contains(.document) ? try payload.readDocument() : nil
  }

  func write(to payload: inout PayloadWriter) {
    payload.writeByte(ConsentTicket.formatVersion)
    var flags: Flags = []
    if isPushed { flags.insert(.pushed) }
    if isRestarted { flags.insert(.restarted) }
    let redirectURI = document?.redirectURIs.first
    if redirectURI != nil { flags.insert(.document) }
    payload.writeByte(flags.rawValue)
    payload.writeBytes(withoutLength: transaction.bytes)
    payload.writeNumber(UInt64(clamping: expiry.seconds))
    payload.writeBytes(withoutLength: browserHash)
    payload.writeBytes(withoutLength: subject)
    payload.writeText(path)
    payload.writeText(query)
    if let document, let redirectURI { payload.writeDocument(document, redirectURI) }
  }
}

extension RedirectDestination {
  init(_ uri: RedirectURI) {
    switch uri.kind {
    case .privateUse(let scheme): self = .app(scheme: scheme)
    // The redirect URI of the Windows Web Authentication Broker begins with `msapp:` or `ms-app:`.
    case .windowsBroker: self = .app(scheme: "msapp")
    case .loopback(.ipv4, _): self = .thisComputer(host: "127.0.0.1")
    case .loopback(.ipv6, _): self = .thisComputer(host: "[::1]")
    case .localhost: self = .thisComputer(host: "localhost")
    // A query may contain the address to which the site sends the browser, so the page says that there is one.
    case .https: self = .site(uri: uri.address + (uri.query == nil ? "" : "?…"))
    }
  }
}

extension AuthorizationPermit {
  /// True if the consent page may show the client's name without a warning. `Client.identityIsProven(by:)` describes
  /// the conditions.
  var identityIsProven: Bool { client.identityIsProven(by: redirectURI) }

  /// The identity of the app, as far as the consent page may state it.
  var identity: ConsentPage.Identity {
    if identityIsProven { return .proven }
    return client.registration == .trusted ? .vouchedFor : .unverified
  }

  /// The SHA-256 digest of what the user approves on the consent page: all that the page shows, and the request that the
  /// upstream gets.
  var consentDigest: [UInt8] {
    let parts = [
      client.name ?? "", identity.rawValue, redirectURI.text, resource?.uri.text ?? "",
      resource?.name ?? "",
    ]
    // Each part follows its length, so that no two lists have the same bytes.
    return sha256(
      (parts + parameters.flatMap { [$0.name, $0.value] }).flatMap { Array("\($0.utf8.count):\($0)".utf8) })
  }
}
