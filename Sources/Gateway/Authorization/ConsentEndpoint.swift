import Enforcement
import HTTP
import OAuth
import Policy
import Sealing
import Stores

/// The gateway's own consent page (`I-consent`; RFC 8252, section 8.6).
///
/// The page is shown before the gateway sends a request upstream. Its form carries the authorization request, sealed
/// and bound to the browser, so the gateway keeps nothing meanwhile; the approval runs every rule again.
struct ConsentEndpoint {
  private static let path = GatewaySettings.ownPath + "consent"

  private let intercepted: InterceptedRequest

  init(_ intercepted: InterceptedRequest) {
    self.intercepted = intercepted
  }

  /// Returns the page that asks the user.
  ///
  /// - Parameter isPushed: True if the client pushed the request (RFC 9126).
  func ask(
    _ permit: AuthorizationPermit, _ request: AuthorizationRequest, _ known: BrowserSession?, isPushed: Bool
  ) -> Response {
    let expiry = intercepted.now + AuthorizationEndpoint.transactionLifetime
    let session = BrowserSession.beginning(
      known, permit, until: expiry, now: intercepted.now, intercepted.gateway.random)
    let browserHash = session.hash
    intercepted.note(permit.challenge, from: browserHash)
    let ticket = ConsentTicket(
      transaction: intercepted.transactionID(), path: intercepted.authorizationPath,
      query: request.parameters.serialised,
      browserHash: browserHash, expiry: expiry, isPushed: isPushed, isRestarted: permit.isRestarted)
    var response = intercepted.pages.consent(
      ConsentPage(
        clientID: permit.client.id.rawValue, clientName: permit.client.name, isProven: permit.isProven,
        destination: RedirectDestination(permit.redirectURI),
        scopes: permit.scope.map { $0.text.split(separator: " ").map(String.init) } ?? [],
        action: ConsentEndpoint.path, token: intercepted.gateway.sealer.seal(ticket)))
    // The form's POST then states its origin; with `no-referrer` browsers send `Origin: null`.
    if intercepted.gateway.snapshot.cookie.isCrossSite { response.headers.set("Referrer-Policy", "same-origin") }
    response.headers.append(
      "Set-Cookie", intercepted.gateway.snapshot.cookie.field(session, intercepted.gateway.sealer))
    return response
  }

  /// Handles the user's decision.
  func respond() async -> Response {
    let request = intercepted.request
    let isForm = FormContent.isForm(
      types: request.headers.all("Content-Type"), encodings: request.headers.all("Content-Encoding"))
    guard request.method == "POST", isForm, let form = FormParameters(parsing: request.body),
      let token = form[named: ConsentPage.Field.token],
      let ticket = try? intercepted.gateway.sealer.open(ConsentTicket.self, from: token),
      let session = intercepted.session(), session.isBound(to: ticket.browserHash), isSameOrigin
    else { return forged() }
    intercepted.trail.transaction = ticket.transaction
    guard ticket.expiry > intercepted.now else { return intercepted.respond(with: .here(.transactionExpired)) }

    let original = AuthorizationRequest(
      method: "GET", query: Substring(ticket.query), userAgent: request.headers["User-Agent"])
    intercepted.note(clientID: original.parameters[.clientID])
    let outcome = Enforcement.decideAuthorization(
      original, policy: intercepted.policy, stateIsSealed: false, isPushed: ticket.isPushed, isOpened: true,
      isRestarted: ticket.isRestarted)
    intercepted.trail.note(outcome)
    guard let permit = outcome.permit else {
      return intercepted.respond(with: outcome.refusal ?? .here(.transactionOutdated))
    }
    intercepted.trail.note(permit.redirectURI)
    guard form[named: ConsentPage.Field.decision] == ConsentPage.Field.approve else {
      return intercepted.respond(with: permit.refusal(.consentDenied))
    }
    return await proceed(permit, ticket, session)
  }

  /// True if the form comes from a page of the gateway. If the cookie alone does not prove it (`I-browser`), one of two
  /// fields does, in which every browser states the origin of a POST.
  private var isSameOrigin: Bool {
    guard intercepted.gateway.snapshot.cookie.isCrossSite else { return true }
    let headers = intercepted.request.headers
    if let site = headers["Sec-Fetch-Site"] { return site == "same-origin" }
    return headers["Origin"] == intercepted.policy.gateway.origin.description
  }

  /// Continues to the upstream: the browser re-enters the authorization endpoint with the transaction's state.
  private func proceed(
    _ permit: AuthorizationPermit, _ ticket: ConsentTicket, _ session: BrowserSession
  ) async -> Response {
    do throws(StoreError) {
      let start = try await TransactionStart(permit, session, intercepted, id: ticket.transaction)
      var response = intercepted.redirect(to: ticket.path + "?" + start.query)
      response.headers.append("Set-Cookie", start.cookie)
      return response
    } catch {
      return intercepted.refusal(error, for: permit)
    }
  }

  /// Refuses a form without this browser's token, which an approval needs (RFC 6749, section 10.12).
  private func forged() -> Response {
    intercepted.trail.refused(.browserUnbound)
    var page = ErrorPage(.browserUnbound, detail: "the form does not belong to this browser; start again in the app")
    page.status = 403
    return intercepted.pages.error(page)
  }
}

/// The sealed request that the consent form carries.
struct ConsentTicket: Sealable {
  static var purpose: Purpose { .consent }
  private static let layout: UInt8 = 3
  private static let hashLength = 32

  /// The transaction that an approval begins. Log lines of the sign-in have its id from the consent page on.
  let transaction: TransactionID
  /// The path of the authorization endpoint that received the request.
  let path: String
  /// The authorization request, re-serialised.
  let query: String
  let browserHash: [UInt8]
  /// The expiry, in seconds since 1970.
  let expiry: Int64
  /// True if the client pushed the request.
  let isPushed: Bool
  /// True if the request comes from a start ticket.
  let isRestarted: Bool

  private struct Flags: OptionSet {
    let rawValue: UInt8
    static let pushed = Flags(rawValue: 1)
    static let restarted = Flags(rawValue: 2)
    static let all: Flags = [.pushed, .restarted]
  }

  init(
    transaction: TransactionID, path: String, query: String, browserHash: [UInt8], expiry: Int64, isPushed: Bool,
    isRestarted: Bool
  ) {
    self.transaction = transaction
    self.isPushed = isPushed
    self.isRestarted = isRestarted
    self.path = path
    self.query = query
    self.browserHash = browserHash
    self.expiry = expiry
  }

  init(from payload: inout PayloadReader) throws(PayloadError) {
    guard try payload.byte() == ConsentTicket.layout else { throw PayloadError() }
    let flags = Flags(rawValue: try payload.byte())
    guard flags.isSubset(of: .all) else { throw PayloadError() }
    isPushed = flags.contains(.pushed)
    isRestarted = flags.contains(.restarted)
    guard let id = TransactionID(bytes: try payload.fixed(TransactionID.byteCount)) else { throw PayloadError() }
    transaction = id
    expiry = Int64(clamping: try payload.number())
    browserHash = try payload.fixed(ConsentTicket.hashLength)
    path = try payload.text()
    query = try payload.text()
  }

  func write(to payload: inout PayloadWriter) {
    payload.byte(ConsentTicket.layout)
    var flags: Flags = []
    if isPushed { flags.insert(.pushed) }
    if isRestarted { flags.insert(.restarted) }
    payload.byte(flags.rawValue)
    payload.fixed(transaction.bytes)
    payload.number(UInt64(clamping: expiry))
    payload.fixed(browserHash)
    payload.text(path)
    payload.text(query)
  }
}

extension RedirectDestination {
  init(_ uri: RedirectURI) {
    switch uri.kind {
    case .privateUse(let scheme): self = .app(scheme: scheme)
    case .broker: self = .app(scheme: "msapp")
    case .loopback, .localhost: self = .thisComputer
    case .https: self = .site(origin: String(uri.text.prefix { $0 != "?" }))
    }
  }
}

extension AuthorizationPermit {
  /// True if the app is proven to be the one that it claims to be.
  var isProven: Bool { client.isProven(at: redirectURI) }
}
