internal import ByteText
import Enforcement
import Synchronization
import Time

/// Links the requests of observed flows: an authorization request with the code in its response, and a refresh token
/// with its successor (`I-observe`). Also counts the uses of each code.
///
/// The memory is bounded: each table has a maximum number of entries, and in a full table a new entry replaces the
/// oldest. If an entry is lost, the gateway misses a finding. In a browser with a sign-in of an enforced client, it may also
/// refuse an authorization response to an observed client whose redirect URI the policy does not list
/// (`leadsToObservedClient`). All workers share the tables,
/// which take almost no memory until a request is observed. The key of an authorization request is its link: a digest
/// of its `state` and its redirect URI. The response contains the same values, and so has the same link.
final class ObservedFlows: Sendable {
  /// A code that the gateway forwarded and whose authorization request is known.
  struct Code: Sendable {
    let flow: ObservedFlow
    /// The time at which the gateway forwarded the code.
    let passedAt: UnixTime
    /// The path of the page that sent the code, as it is logged; `nil` for an authorization endpoint.
    let path: String?
    /// The number of token requests with this code.
    var uses = 0
  }

  private struct Request: Sendable {
    var flow: ObservedFlow
    /// The client id, if the policy lists it.
    let client: String?
    /// True if different requests have this link, so that a response cannot be assigned to one of them.
    var isAmbiguous = false
    /// True if a response with this link has passed.
    var isAnswered = false
  }

  private struct RefreshToken: Sendable {
    let client: ShortDigest
    /// The time at which the upstream issued a successor; `nil` while this token is the newest.
    var supersededAt: UnixTime?
  }

  private struct Tables: Sendable {
    var requests: BoundedTable<Request>
    /// The requests that the upstream has accepted from browsers with the gateway's cookie, by digests of the link and of
    /// the browser's secret.
    var acceptances: BoundedTable<Void>
    var codes: BoundedTable<Code>
    var refreshTokens: BoundedTable<RefreshToken>
  }

  private let tables: Mutex<Tables>

  init(capacity: Int = 16_384) {
    tables = Mutex(
      Tables(
        requests: BoundedTable(capacity: capacity), acceptances: BoundedTable(capacity: capacity),
        codes: BoundedTable(capacity: capacity), refreshTokens: BoundedTable(capacity: capacity)))
  }

  /// Records an authorization request that passes. If an earlier request with the same link has no response yet and
  /// differs, the link is ambiguous.
  ///
  /// - Parameter client: The client id if the policy lists it, otherwise `nil`.
  func recordRequest(_ flow: ObservedFlow, link: ShortDigest, client: String? = nil) {
    tables.withLock { tables in
      guard let before = tables.requests[link], !before.isAnswered else {
        tables.requests[link] = Request(flow: flow, client: client)
        return
      }
      if before.flow != flow { tables.requests[link]?.isAmbiguous = true }
    }
  }

  /// Returns true if an authorization request with this link is recorded.
  func isKnown(_ link: ShortDigest) -> Bool { tables.withLock { $0.requests[link] != nil } }

  /// Returns the client of the authorization request with this link; `nil` if none is recorded or the policy does not list
  /// it.
  func client(_ link: ShortDigest) -> String? { tables.withLock { $0.requests[link]?.client } }

  /// Returns true if an authorization request with this link is recorded and no response with the code is.
  func isFirstResponse(_ link: ShortDigest, code: ShortDigest) -> Bool {
    tables.withLock { $0.requests[link] != nil && $0.codes[code] == nil }
  }

  /// Records that the upstream has accepted an authorization request with this link from a browser.
  ///
  /// - Parameter browserHash: The SHA-256 digest of the secret in the browser's cookie (`BrowserSession`).
  func recordAcceptance(_ link: ShortDigest, from browserHash: [UInt8]) {
    tables.withLock { $0.acceptances[ObservedFlows.acceptanceKey(link, browserHash)] = () }
  }

  /// Returns true if the upstream has accepted an authorization request with this link from this browser.
  func isAccepted(_ link: ShortDigest, from browserHash: [UInt8]) -> Bool {
    tables.withLock { $0.acceptances[ObservedFlows.acceptanceKey(link, browserHash)] != nil }
  }

  private static func acceptanceKey(_ link: ShortDigest, _ browserHash: [UInt8]) -> ShortDigest {
    ShortDigest(link.description, Base64URL.encode(browserHash))
  }

  /// Records an authorization response that passes, by its link and the digest of its code.
  ///
  /// - Parameter path: The path of the page that sent it, as it is logged; `nil` for an authorization endpoint.
  func recordResponse(_ link: ShortDigest, code: ShortDigest, path: String?, now: UnixTime) {
    tables.withLock { tables in
      guard let request = tables.requests[link] else { return }
      tables.requests[link]?.isAnswered = true
      // If the upstream sends the same code again, the code stays linked with the first request.
      guard !request.isAmbiguous, tables.codes[code] == nil else { return }
      tables.codes[code] = Code(flow: request.flow, passedAt: now, path: path)
    }
  }

  /// Records a use of a code. Returns the code, with the number of uses before this one; `nil` if the authorization
  /// request of the code is unknown.
  func recordUse(of code: ShortDigest) -> Code? {
    tables.withLock { tables in
      let found = tables.codes[code]
      if let found { tables.codes[code]?.uses = found.uses + 1 }
      return found
    }
  }

  /// Returns the client of a refresh token and the time at which a successor was issued; `nil` if the token is unknown.
  func refreshToken(_ token: ShortDigest) -> (client: ShortDigest, supersededAt: UnixTime?)? {
    tables.withLock { $0.refreshTokens[token].map { ($0.client, $0.supersededAt) } }
  }

  /// Records the refresh token in a token response. If the request contained a different refresh token, the new token
  /// supersedes it.
  ///
  /// - Parameter presented: The refresh token in the request; `nil` if the request had none.
  func recordRefreshToken(_ token: ShortDigest, presented: ShortDigest?, client: ShortDigest, now: UnixTime) {
    tables.withLock { tables in
      if let presented, presented != token {
        var before = tables.refreshTokens[presented] ?? RefreshToken(client: client)
        before.supersededAt = before.supersededAt ?? now
        tables.refreshTokens[presented] = before
      }
      if tables.refreshTokens[token] == nil { tables.refreshTokens[token] = RefreshToken(client: client) }
    }
  }
}

/// A dictionary of at most `capacity` entries. If it is full, a new entry replaces the oldest.
struct BoundedTable<Value: Sendable>: Sendable {
  private var values: [ShortDigest: Value] = [:]
  /// The keys in the order of insertion; in a full table, beginning at `oldestIndex`.
  private var order: [ShortDigest] = []
  private var oldestIndex = 0
  private let capacity: Int

  init(capacity: Int) {
    precondition(capacity > 0, "a table without room")
    self.capacity = capacity
  }

  var count: Int { values.count }

  /// The value of a key. Setting `nil` has no effect: an entry is removed only if it is the oldest one and a new entry
  /// needs its room.
  subscript(key: ShortDigest) -> Value? {
    get { values[key] }
    set {
      guard let newValue, values.updateValue(newValue, forKey: key) == nil else { return }
      if order.count < capacity {
        order.append(key)
        return
      }
      values[order[oldestIndex]] = nil
      order[oldestIndex] = key
      oldestIndex = (oldestIndex + 1) % capacity
    }
  }
}
