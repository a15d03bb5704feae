internal import ByteText
import Cryptography
import HTTP
import Synchronization
import Time

extension LegacyAuthorizationServer {
  func home(_ exchange: LegacyRequest, now: UnixTime) -> Response {
    LegacyPage.home(user: user(of: exchange, now: now))
  }

  func loginForm(next: String?, failed: Bool = false) -> Response {
    LegacyPage.login(next: LegacyAuthorizationServer.localPath(next), failed: failed)
  }

  func login(_ exchange: LegacyRequest, now: UnixTime) -> Response {
    let next = exchange.body["next"] ?? exchange.query["next"]
    guard let name = exchange.body["username"], let password = configuration.users[name],
      let given = exchange.body["password"], constantTimeEqual(given, password)
    else { return loginForm(next: next, failed: true) }
    let session = LegacyAuthorizationServer.randomText(24)
    state.withLock { $0.sessions.insert(name, for: session, now: now) }
    var response = LegacyAuthorizationServer.redirect(to: LegacyAuthorizationServer.localPath(next))
    response.headers.append("Set-Cookie", "\(LegacyAuthorizationServer.sessionCookie)=\(session); Path=/; HttpOnly")
    return response
  }

  func logout(_ exchange: LegacyRequest, now: UnixTime) -> Response {
    if let session = exchange.cookie(LegacyAuthorizationServer.sessionCookie) {
      _ = state.withLock { $0.sessions.take(session, now: now) }
    }
    var response = LegacyAuthorizationServer.redirect(to: "/")
    response.headers.append("Set-Cookie", "\(LegacyAuthorizationServer.sessionCookie)=; Path=/; HttpOnly; Max-Age=0")
    return response
  }

  /// Returns the path and query to open after the login: `next` if it is on this server, otherwise `/`.
  private static func localPath(_ next: String?) -> String {
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

  /// Returns the base64url text of this number of random bytes.
  static func randomText(_ bytes: Int) -> String {
    Base64URL.encode(randomBytes(bytes))
  }
}
