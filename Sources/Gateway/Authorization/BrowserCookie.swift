internal import ByteText
import Cryptography
import Enforcement
import HTTP
import Policy
import Sealing
import Time

/// The only cookie of the gateway. It binds the transactions in all tabs of a browser to this browser (`I-browser`).
struct BrowserCookie: Sendable {
  let name: String
  /// True if browsers also attach the cookie to form posts from other sites (`SameSite=None`). The consent endpoint
  /// must then check the origin of a posted form by other fields.
  let isCrossSite: Bool
  /// True if the gateway can remember consents in the cookie: no other site can set it, because of its prefix, and browsers
  /// attach it to no frame or form of another site.
  let canRememberConsent: Bool
  private let attributes: String

  init(_ policy: Policy) {
    let isSecure = policy.gateway.origin.scheme == .https
    // With the prefix `__Host-`, browsers accept the cookie only from this host over https, and only for the path `/`.
    name = isSecure ? "__Host-proofgate" : "proofgate"
    // Browsers attach the cookie to a form post from another site only with `SameSite=None`, and accept this attribute
    // only together with `Secure`.
    isCrossSite = isSecure && policy.upstream.needsCrossSiteCookie
    canRememberConsent = isSecure && !isCrossSite
    let sameSite = isCrossSite ? "None" : "Lax"
    attributes = "; Path=/; HttpOnly; SameSite=\(sameSite)" + (isSecure ? "; Secure" : "")
  }

  /// Returns the session in the browser's cookie. Returns `nil` if the request does not have exactly one cookie of this
  /// name, or if the gateway did not seal its value.
  func session(of request: Request, _ sealer: Sealer) -> BrowserSession? {
    session(in: request.headers.all("Cookie"), sealer)
  }

  /// Returns the session from the values of all `Cookie` fields.
  func session(in fields: [String], _ sealer: Sealer) -> BrowserSession? {
    let values = fields.flatMap { self.values(in: $0.utf8.span) }
    guard values.count == 1, let value = values.first else { return nil }
    return try? sealer.open(BrowserSession.self, from: value)
  }

  /// Returns the values of the gateway's cookie in one `Cookie` field, which may contain several cookies of this name.
  private func values(in field: Span<UInt8>) -> [String] {
    let name = name.utf8.span
    var values: [String] = []
    var start = 0
    while start < field.count {
      let end = field.firstIndex(of: UInt8(ascii: ";"), from: start) ?? field.count
      while start < end, field[start] == UInt8(ascii: " ") { start += 1 }
      let pair = field.extracting(start..<end)
      start = end + 1
      guard pair.starts(with: name), name.count < pair.count, pair[name.count] == UInt8(ascii: "=") else { continue }
      if let value = String(validating: pair.extracting(name.count + 1..<pair.count)) { values.append(value) }
    }
    return values
  }

  /// Returns the `Set-Cookie` value for a session.
  func setCookieValue(for session: BrowserSession, _ sealer: Sealer) -> String {
    let sealed = sealer.seal(session)
    var text = name
    // Reserve room for the complete text, so that memory is allocated only once.
    text.reserveCapacity(name.utf8.count + 1 + sealed.utf8.count + attributes.utf8.count)
    text += "="
    text += sealed
    text += attributes
    // Without an expiry, browsers delete the cookie when they end. With one, the cookie must outlive the browser's
    // transactions too.
    if let expiry = session.consents.expiry {
      text += "; Expires=" + HTTPDate.format(max(expiry, session.latestTransactionExpiry))
    }
    return text
  }
}

/// The content of the cookie, which the gateway seals (encrypts and authenticates): a random secret, the latest expiry
/// of the browser's transactions, the check of the user agent that these transactions require on the upstream's pages,
/// and the consents that the user has given.
struct BrowserSession: Sealable {
  static var purpose: Purpose { .cookie }
  /// The version of the format.
  private static let formatVersion: UInt8 = 2
  private static let secretLength = 32

  private let secret: [UInt8]
  /// The latest expiry of the browser's transactions.
  private(set) var latestTransactionExpiry: UnixTime
  /// The combined checks of the user agent of all transactions that may still run.
  private(set) var userAgentGuard: EmbeddedUserAgentGuard
  /// The consents that the gateway remembers.
  var consents = RememberedConsents()

  /// Creates the session of a new browser.
  init(latestTransactionExpiry: UnixTime, userAgentGuard: EmbeddedUserAgentGuard, _ random: RandomPool) {
    secret = random.take(BrowserSession.secretLength)
    self.latestTransactionExpiry = latestTransactionExpiry
    self.userAgentGuard = userAgentGuard
  }

  /// Returns the session of a browser after the start of a transaction: the known session with the expiry and the
  /// checks of the transaction added, or a new session.
  ///
  /// - Parameters:
  ///   - known: The session in the browser's cookie; `nil` for a new browser.
  ///   - permit: The permission for the transaction, with its checks of the user agent.
  ///   - expiry: The time at which the transaction expires.
  static func continuing(
    _ known: BrowserSession?, _ permit: AuthorizationPermit, until expiry: UnixTime, now: UnixTime, _ random: RandomPool
  ) -> BrowserSession {
    guard var session = known else {
      return BrowserSession(latestTransactionExpiry: expiry, userAgentGuard: permit.userAgentGuard, random)
    }
    // The checks of earlier transactions still apply unless all of these transactions have expired.
    session.userAgentGuard =
      session.latestTransactionExpiry > now
      ? session.userAgentGuard.union(permit.userAgentGuard) : permit.userAgentGuard
    session.latestTransactionExpiry = max(session.latestTransactionExpiry, expiry)
    return session
  }

  init(from payload: inout PayloadReader) throws(PayloadError) {
    guard try payload.readByte() == BrowserSession.formatVersion else { throw PayloadError() }
    secret = try payload.readBytes(count: BrowserSession.secretLength)
    latestTransactionExpiry = UnixTime(seconds: Int64(clamping: try payload.readNumber()))
    let flags = try payload.readByte()
    guard flags & ~(Flag.blocks | Flag.usesBroker | Flag.hasConsents) == 0 else { throw PayloadError() }
    userAgentGuard = EmbeddedUserAgentGuard(blocks: flags & Flag.blocks != 0, usesBroker: flags & Flag.usesBroker != 0)
    if flags & Flag.hasConsents != 0 { consents = try RememberedConsents(from: &payload) }
  }

  func write(to payload: inout PayloadWriter) {
    payload.writeByte(BrowserSession.formatVersion)
    payload.writeBytes(withoutLength: secret)
    payload.writeNumber(UInt64(clamping: latestTransactionExpiry.seconds))
    payload.writeByte(
      (userAgentGuard.blocks ? Flag.blocks : 0) | (userAgentGuard.usesBroker ? Flag.usesBroker : 0)
        | (consents.isEmpty ? 0 : Flag.hasConsents))
    if !consents.isEmpty { consents.write(to: &payload) }
  }

  private enum Flag {
    static let blocks: UInt8 = 1
    static let usesBroker: UInt8 = 2
    static let hasConsents: UInt8 = 4
  }

  /// The SHA-256 digest of the secret. A transaction contains this digest of the browser in which the transaction
  /// began.
  var hash: [UInt8] { sha256(secret) }

  /// Returns true if a transaction that contains the digest `hash` began in this browser: `hash` is the digest of this
  /// browser's secret.
  func isBound(to hash: [UInt8]) -> Bool { constantTimeEqual(self.hash, hash) }
}
