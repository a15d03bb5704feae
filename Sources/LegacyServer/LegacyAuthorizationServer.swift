public import HTTP
import Synchronization
public import Time

/// An OAuth 2.0 authorization server of the kind that was common before RFC 7636 and RFC 8252. Its clients are
/// confidential and have one redirect URI each. It supports no native apps and, by default, no PKCE. The demo and the
/// tests put the gateway in front of it.
///
/// This object does no I/O: the caller reads requests from its sockets and passes them to `respond(to:now:)`.
///
/// | path | purpose |
/// |---|---|
/// | `/` | shows the name of the signed-in user |
/// | `/login`, `/logout` | begin and end a session, whose id is in a cookie |
/// | `/authorize` | shows the consent form (GET); handles its submission (POST) and redirects with the code |
/// | `/token` | issues tokens for codes, refresh tokens and client credentials |
/// | `/revoke` | deletes a token |
/// | `/api/me` | shows the user, the client and the scope of an access token |
///
/// | `/activate` | asks a signed-in user for the code of a device, if the server has the device grant |
///
/// ``LegacyPaths`` can put the OAuth endpoints at other paths.
public final class LegacyAuthorizationServer: Sendable {
  /// The name of the session cookie.
  public static let sessionCookie = "LEGACYSESSION"

  /// The clients, users, quirks and limits of the server.
  public let configuration: LegacyConfiguration
  /// The record of the requests that reached the server.
  public let recorder: RequestRecorder
  let state: Mutex<LegacyState>
  private let clients: [String: LegacyClient]

  /// Creates a server without sessions, codes, tokens and consents.
  public init(_ configuration: LegacyConfiguration, recorder: RequestRecorder = RequestRecorder()) {
    self.configuration = configuration
    self.recorder = recorder
    state = Mutex(LegacyState(configuration))
    clients = Dictionary(configuration.clients.map { ($0.id, $0) }) { first, _ in first }
  }

  /// Answers one request.
  ///
  /// - Parameter now: The current time.
  public func respond(to request: Request, now: UnixTime) -> Response {
    recorder.record(request)
    var request = request
    let isHead = request.method == "HEAD"
    if isHead { request.method = "GET" }
    var response = route(LegacyRequest(request), now: now)
    if configuration.quirks.absoluteRedirects, let location = response.headers["Location"], location.hasPrefix("/"),
      let host = request.headers["Host"]
    {
      response.headers.set("Location", "\(request.peer.isSecure ? "https" : "http")://\(host)\(location)")
    }
    if isHead { response.body = [] }
    return response
  }

  private func route(_ request: LegacyRequest, now: UnixTime) -> Response {
    if let endpoint = configuration.paths.endpoint(at: String(request.http.path)) {
      return respond(to: request, at: endpoint, now: now)
    }
    if request.http.path == LegacyAuthorizationServer.activationPath, !configuration.paths.deviceAuthorization.isEmpty {
      return activate(request, now: now)
    }
    return switch (request.http.path, request.http.method) {
    case ("/", "GET"): home(request, now: now)
    case ("/login", "GET"): loginForm(next: request.query["next"])
    case ("/login", "POST"): login(request, now: now)
    case ("/logout", "GET"), ("/logout", "POST"): logout(request, now: now)
    case ("/api/me", "GET"): resource(request, now: now)
    case ("/", _), ("/login", _), ("/logout", _), ("/api/me", _): methodNotAllowed
    default:
      LegacyPage.message(status: 404, "Page not found", "The page that you are looking for is not on this server.")
    }
  }

  private func respond(to request: LegacyRequest, at endpoint: LegacyPaths.Endpoint, now: UnixTime) -> Response {
    switch (endpoint, request.http.method) {
    case (.authorization, "GET"): authorize(request, now: now)
    case (.authorization, "POST"): handleConsent(request, now: now)
    case (.token, "POST"): token(request, now: now)
    case (.token, "GET") where configuration.quirks.tokensOverGET: token(request, now: now)
    case (.deviceAuthorization, "POST"): authorizeDevice(request, now: now)
    case (.revocation, "POST"): revoke(request, now: now)
    default: methodNotAllowed
    }
  }

  private var methodNotAllowed: Response {
    LegacyPage.message(status: 405, "Method not allowed", "This page cannot be called in this way.")
  }

  /// Returns the registered client with this id; `nil` for no id or an unknown id.
  func client(_ id: String?) -> LegacyClient? {
    id.flatMap { clients[$0] }
  }

  /// Returns the name of the user whose session cookie the request contains; `nil` if there is no valid session.
  func user(of request: LegacyRequest, now: UnixTime) -> String? {
    guard let session = request.cookie(LegacyAuthorizationServer.sessionCookie) else { return nil }
    return state.withLock { $0.sessions.value(for: session, now: now) }
  }

  /// The number of sessions, codes, tokens and consents in memory. Tests check that it does not grow without limit.
  public var recordCount: Int {
    state.withLock {
      $0.sessions.count + $0.codes.count + $0.accessTokens.count + $0.refreshTokens.count + $0.consents.count
    }
  }
}
