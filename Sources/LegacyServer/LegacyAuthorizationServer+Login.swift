import Cryptography
import HTTP
import Synchronization

extension LegacyAuthorizationServer {
  func home(_ exchange: LegacyRequest, now: Int) -> Response {
    LegacyPage.home(user: user(of: exchange, now: now))
  }

  func loginForm(next: String?, failed: Bool = false) -> Response {
    LegacyPage.login(next: LegacyAuthorizationServer.local(next), failed: failed)
  }

  func login(_ exchange: LegacyRequest, now: Int) -> Response {
    let next = exchange.body["next"] ?? exchange.query["next"]
    guard let name = exchange.body["username"], let password = configuration.users[name],
      let given = exchange.body["password"], constantTimeEqual(given, password)
    else { return loginForm(next: next, failed: true) }
    let session = LegacyAuthorizationServer.randomText(24)
    state.withLock { $0.sessions.insert(name, for: session, now: now) }
    var response = LegacyAuthorizationServer.redirect(to: LegacyAuthorizationServer.local(next))
    response.headers.append("Set-Cookie", "\(LegacyAuthorizationServer.sessionCookie)=\(session); Path=/; HttpOnly")
    return response
  }

  func logout(_ exchange: LegacyRequest, now: Int) -> Response {
    if let session = exchange.cookie(LegacyAuthorizationServer.sessionCookie) {
      _ = state.withLock { $0.sessions.take(session, now: now) }
    }
    var response = LegacyAuthorizationServer.redirect(to: "/")
    response.headers.append("Set-Cookie", "\(LegacyAuthorizationServer.sessionCookie)=; Path=/; HttpOnly; Max-Age=0")
    return response
  }

  /// Returns the path to open after the login. It is always a path on this server.
  private static func local(_ next: String?) -> String {
    guard let next, next.hasPrefix("/"), !next.hasPrefix("//"), !next.hasPrefix("/\\"),
      !next.utf8.contains(where: { $0 < 0x21 || $0 == 0x7f })
    else { return "/" }
    return next
  }

  static func redirect(to location: String) -> Response {
    Response(
      status: 302,
      headers: ["Location": location, "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache"])
  }

  /// Returns random text in the base64url alphabet, four characters for three bytes.
  static func randomText(_ bytes: Int) -> String {
    Base64URL.encode(randomBytes(bytes))
  }
}
