import Cryptography
import HTTP
import Policy
import Sealing

/// The one cookie of the gateway: it binds the transactions of all tabs to their browser (`I-browser`).
struct BrowserCookie: Sendable {
  let name: String
  private let attributes: String

  init(_ policy: Policy) {
    let isSecure = policy.gateway.origin.scheme == .https
    // The prefix makes browsers refuse the cookie from another host, a path or plain http.
    name = isSecure ? "__Host-proofgate" : "proofgate"
    // A network callback may be a cross-site POST, which only `None` reaches; `None` needs `Secure`.
    let sameSite = policy.upstream.callback == .network && isSecure ? "None" : "Lax"
    attributes = "; Path=/; HttpOnly; SameSite=\(sameSite)" + (isSecure ? "; Secure" : "")
  }

  /// The browser's session, if the request carries exactly one cookie that opens.
  func read(_ request: Request, _ sealer: Sealer) -> BrowserSession? {
    let values = request.headers.all("Cookie").flatMap { field in
      field.utf8.split(separator: UInt8(ascii: ";")).compactMap { pair -> Substring? in
        let trimmed = pair.drop { $0 == 0x20 }
        guard trimmed.starts(with: "\(name)=".utf8) else { return nil }
        return Substring(trimmed.dropFirst(name.utf8.count + 1))
      }
    }
    guard values.count == 1, let value = values.first else { return nil }
    return try? sealer.open(BrowserSession.self, from: value)
  }

  /// The `Set-Cookie` value for a session.
  func field(_ session: BrowserSession, _ sealer: Sealer) -> String {
    "\(name)=\(sealer.seal(session))\(attributes)"
  }
}

/// What the cookie holds, sealed: a random secret, and until when a transaction of this browser may still run.
struct BrowserSession: Sealable {
  static var purpose: Purpose { .cookie }
  private static let layout: UInt8 = 1
  private static let secretLength = 32

  private let secret: [UInt8]
  /// Seconds since 1970.
  private(set) var liveUntil: Int64

  /// A new browser.
  init(liveUntil: Int64) {
    secret = randomBytes(BrowserSession.secretLength)
    self.liveUntil = liveUntil
  }

  init(from payload: inout PayloadReader) throws(PayloadError) {
    guard try payload.byte() == BrowserSession.layout else { throw PayloadError() }
    secret = try payload.fixed(BrowserSession.secretLength)
    liveUntil = Int64(clamping: try payload.number())
  }

  func write(to payload: inout PayloadWriter) {
    payload.byte(BrowserSession.layout)
    payload.fixed(secret)
    payload.number(UInt64(clamping: liveUntil))
  }

  /// What transactions carry.
  var hash: [UInt8] { sha256(secret) }

  func isBound(to hash: [UInt8]) -> Bool { constantTimeEqual(self.hash, hash) }

  /// The same browser with a transaction that runs until `expiry`.
  func extended(to expiry: Int64) -> BrowserSession {
    var session = self
    session.liveUntil = max(liveUntil, expiry)
    return session
  }
}
