import Cryptography
import Enforcement
import OAuth
import Policy
import Sealing
import Time

/// The object of a user's consent: everything that the consent page shows, the settings of the client on which the page
/// depends, and the parameters that `upstream.parameters` sends to the upstream and the page does not show
/// (`consent_remembered`; RFC 8252, section 8.6).
///
/// It exists only for a request whose consent may be remembered: the operator vouches for the client, and the response goes
/// to its https redirect URI, so that no other app can get the code. Any program can use a private-use scheme or a loopback
/// port, also in the name of a confidential client.
struct ConsentSubject {
  /// The maximum length of a scope, in bytes. With it, the cookie has at most about 3 KiB; browsers accept 4 KiB.
  static let maximumScopeLength = 480

  /// The digest of the client id, then that of all parts but the scope.
  let digest: [UInt8]
  /// The scope on the page; `nil` if it shows none.
  let scope: Scope?
  /// The time for which the policy lets a consent be remembered.
  let lifetime: Seconds

  /// Returns `nil` if the consent to the request must not be remembered.
  init?(_ permit: AuthorizationPermit, _ cookie: BrowserCookie, _ policy: Policy) {
    let client = permit.client
    guard client.consentRemembered > 0, permit.needsConsent, permit.identityIsProven,
      case .https = permit.redirectURI.kind, !client.isUnlisted, !permit.isDeviceFlow, !permit.isRestarted,
      cookie.canRememberConsent, (permit.upstreamScope?.text.utf8.count ?? 0) <= Self.maximumScopeLength
    else { return nil }
    scope = permit.upstreamScope
    lifetime = client.consentRemembered
    let parts: [String] =
      [
        policy.gateway.issuer, client.id.rawValue, permit.upstreamClientID.rawValue, permit.redirectURI.text,
        permit.resource?.uri.text ?? "", permit.resource?.name ?? "", client.name ?? "", client.kind.rawValue,
        client.application.rawValue, client.consent.rawValue,
      ] + ConsentSubject.hiddenParameters(of: permit).flatMap { [$0.name, $0.value] }
    // Each part follows its length, so that no two lists have the same bytes.
    let beginning = RememberedConsents.digest(of: client.id)
    digest =
      beginning
      + sha256(parts.flatMap { Array("\($0.utf8.count):\($0)".utf8) })
      .prefix(RememberedConsents.digestLength - beginning.count)
  }

  /// Returns the parameters that select what the tokens are for and that the page does not show, such as `audience`, in the
  /// order of their names. Those of OpenID Connect, such as `nonce`, differ in each request and select nothing. The page
  /// shows a resource that the policy lists.
  private static func hiddenParameters(of permit: AuthorizationPermit) -> [FormParameters.Entry] {
    let shown: ParameterNames = [ParameterNames(.responseType, .clientID, .redirectURI, .scope), .openIDConnect]
    let resource = permit.resource == nil ? ParameterNames() : ParameterNames(.resource, .audience)
    return permit.parameters.filter { entry in
      !shown.contains(entry.parameter) && !resource.contains(entry.parameter)
    }.sorted { ($0.name, $0.value) < ($1.name, $1.value) }
  }

  /// True if a request with these parameters may continue without the page. With `prompt`, the app or the server asks the
  /// user again, or lets another user sign in (OpenID Connect Core, section 3.1.2.1). `claims` and `authorization_details`
  /// ask for more than the page has shown.
  static func maySkipPage(_ parameters: FormParameters) -> Bool {
    for name in [ParameterName.prompt, .claims, .authorizationDetails] {
      guard case .absent = parameters.lookUp(name) else { return false }
    }
    return true
  }
}

/// The consents that a user has given on the consent page in this browser. They are a part of the sealed session in the
/// gateway's only cookie, so neither the upstream nor another site can write or read them (`I-browser`).
struct RememberedConsents: Sendable {
  /// 4 bytes for the client, and 12 for the complete subject.
  static let digestLength = 16
  /// The maximum number of consents. A further one replaces the oldest.
  static let maximumCount = 4

  private struct Entry: Sendable {
    let digest: [UInt8]
    let scope: Scope?
    let approval: UnixTime
    let lifetime: Seconds

    var expiry: UnixTime { approval + lifetime }
  }

  /// The consents, the latest last.
  private var entries: [Entry] = []

  var isEmpty: Bool { entries.isEmpty }
  /// The time at which the last consent expires; `nil` if there is none.
  var expiry: UnixTime? { entries.map(\.expiry).max() }

  init() {}

  /// Returns true if the user has approved the same request, or one with more scopes, and both the time of the policy at
  /// that time and the time of the present policy last.
  func contain(_ subject: ConsentSubject, now: UnixTime) -> Bool {
    entries.contains { entry in
      guard constantTimeEqual(entry.digest, subject.digest), entry.approval <= now, now < entry.expiry,
        now < entry.approval + subject.lifetime
      else { return false }
      switch (subject.scope, entry.scope) {
      case (let requested?, let approved?): return requested.isWithin(approved)
      // Without a scope, the server chooses one. It may be more or less than any list.
      case (nil, nil): return true
      case (nil, _), (_, nil): return false
      }
    }
  }

  /// Adds a consent and removes those that have expired.
  mutating func add(_ subject: ConsentSubject, now: UnixTime) {
    entries.removeAll { $0.expiry <= now || $0.digest == subject.digest && $0.scope == subject.scope }
    entries.append(Entry(digest: subject.digest, scope: subject.scope, approval: now, lifetime: subject.lifetime))
    entries.removeFirst(max(0, entries.count - Self.maximumCount))
  }

  /// Returns the beginning of the digests of all consents for a client.
  static func digest(of client: ClientID) -> [UInt8] { Array(sha256(Array(client.rawValue.utf8)).prefix(4)) }

  /// Removes all consents for a client, which the user has just refused. Returns true if there was one.
  mutating func removeAll(for client: ClientID) -> Bool {
    let (count, digest) = (entries.count, RememberedConsents.digest(of: client))
    entries.removeAll { $0.digest.starts(with: digest) }
    return entries.count < count
  }

  init(from payload: inout PayloadReader) throws(PayloadError) {
    let count = Int(try payload.readByte())
    guard (1...Self.maximumCount).contains(count) else { throw PayloadError() }
    for _ in 0..<count {
      let digest = try payload.readBytes(count: Self.digestLength)
      let approval = UnixTime(seconds: Int64(clamping: try payload.readNumber()))
      let lifetime = Int(clamping: try payload.readNumber())
      guard lifetime <= EnforcementSettings.maximumConsentRemembered.count else { throw PayloadError() }
      let text = try payload.readText()
      let scope = Scope(parsing: text)
      guard text.isEmpty || scope != nil else { throw PayloadError() }
      entries.append(Entry(digest: digest, scope: scope, approval: approval, lifetime: Seconds(lifetime)))
    }
  }

  func write(to payload: inout PayloadWriter) {
    payload.writeByte(UInt8(entries.count))
    for entry in entries {
      payload.writeBytes(withoutLength: entry.digest)
      payload.writeNumber(UInt64(clamping: entry.approval.seconds))
      payload.writeNumber(UInt64(clamping: entry.lifetime.count))
      // A scope is never empty, so an empty text means that there was none.
      payload.writeText(entry.scope?.text ?? "")
    }
  }
}
