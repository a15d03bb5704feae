internal import ByteText
import Cryptography
import HTTP
import Synchronization
import Time

extension LegacyAuthorizationServer {
  func home(_ request: LegacyRequest, now: UnixTime) -> Response {
    LegacyPage.home(user: user(of: request, now: now))
  }

  /// Returns the login page.
  ///
  /// - Parameters:
  ///   - next: The path and query to open after the login.
  ///   - failed: True to show that the last attempt failed.
  func loginForm(next: String?, failed: Bool = false) -> Response {
    LegacyPage.login(next: LegacyAuthorizationServer.localPath(next), failed: failed)
  }

  func login(_ request: LegacyRequest, now: UnixTime) -> Response {
    let next = request.body["next"] ?? request.query["next"]
    guard let name = request.body["username"], let password = configuration.users[name],
      let submitted = request.body["password"], constantTimeEqual(submitted, password)
    else { return loginForm(next: next, failed: true) }
    let session = LegacyAuthorizationServer.randomText(24)
    state.withLock { $0.sessions.insert(name, for: session, now: now) }
    var response = LegacyAuthorizationServer.redirect(to: LegacyAuthorizationServer.localPath(next))
    response.headers.append("Set-Cookie", "\(LegacyAuthorizationServer.sessionCookie)=\(session); Path=/; HttpOnly")
    return response
  }

  func logout(_ request: LegacyRequest, now: UnixTime) -> Response {
    if let session = request.cookie(LegacyAuthorizationServer.sessionCookie) {
      _ = state.withLock { $0.sessions.remove(session, now: now) }
    }
    var response = LegacyAuthorizationServer.redirect(to: "/")
    response.headers.append("Set-Cookie", "\(LegacyAuthorizationServer.sessionCookie)=; Path=/; HttpOnly; Max-Age=0")
    return response
  }

  /// Returns the path and query to which the login redirects: `next` if it is on this server, otherwise `/`.
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

  /// Returns `byteCount` random bytes as base64url text.
  static func randomText(_ byteCount: Int) -> String {
    Base64URL.encode(randomBytes(byteCount))
  }
}
