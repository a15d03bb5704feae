import Enforcement
import Synchronization

/// Links the requests of observed flows: an authorization request to its code, and a refresh token to its successor
/// (`I-observe`).
///
/// The memory is bounded: each table has a fixed number of entries, and a new entry replaces the oldest. A lost entry
/// only prevents a finding. All workers share the tables, which take no memory until a request is observed.
final class ObservedFlows: Sendable {
  /// A code whose authorization request is known.
  struct Code: Sendable {
    let flow: ObservedFlow
    /// The time at which the code passed, in seconds since 1970.
    let passedAt: Int64
    var uses = 0
  }

  private struct Request: Sendable {
    var flow: ObservedFlow
    /// True if several requests could have caused a response with this link.
    var isAmbiguous = false
    var isAnswered = false
  }

  private struct RefreshToken: Sendable {
    let client: ShortDigest
    /// The time at which the server issued a successor, in seconds since 1970; `nil` if this token is the newest.
    var supersededAt: Int64?
  }

  private struct Tables: Sendable {
    var requests: BoundedTable<Request>
    var codes: BoundedTable<Code>
    var refreshTokens: BoundedTable<RefreshToken>
  }

  private let tables: Mutex<Tables>

  init(capacity: Int = 16_384) {
    tables = Mutex(
      Tables(
        requests: BoundedTable(capacity: capacity), codes: BoundedTable(capacity: capacity),
        refreshTokens: BoundedTable(capacity: capacity)))
  }

  /// Records an authorization request that passes.
  func begin(_ flow: ObservedFlow, link: ShortDigest) {
    tables.withLock { tables in
      guard let before = tables.requests[link], !before.isAnswered else {
        tables.requests[link] = Request(flow: flow)
        return
      }
      if before.flow != flow { tables.requests[link]?.isAmbiguous = true }
    }
  }

  /// Returns true if a request with this link passed.
  func isKnown(_ link: ShortDigest) -> Bool { tables.withLock { $0.requests[link] != nil } }

  /// Records an authorization response that passes.
  func answer(_ link: ShortDigest, code: ShortDigest, now: Int64) {
    tables.withLock { tables in
      guard let request = tables.requests[link] else { return }
      tables.requests[link]?.isAnswered = true
      // A code that passes a second time is an echo: its first request counts.
      guard !request.isAmbiguous, tables.codes[code] == nil else { return }
      tables.codes[code] = Code(flow: request.flow, passedAt: now)
    }
  }

  /// Records a use of a code. Returns `nil` if its request is unknown; `uses` counts the uses before this one.
  func use(_ code: ShortDigest) -> Code? {
    tables.withLock { tables in
      let found = tables.codes[code]
      if let found { tables.codes[code]?.uses = found.uses + 1 }
      return found
    }
  }

  /// Returns the known facts about a refresh token that a client presents.
  func presented(_ token: ShortDigest) -> (client: ShortDigest, supersededAt: Int64?)? {
    tables.withLock { $0.refreshTokens[token].map { ($0.client, $0.supersededAt) } }
  }

  /// Records the refresh token in a response, which supersedes the presented one, if any.
  func gave(_ token: ShortDigest, for presented: ShortDigest?, client: ShortDigest, now: Int64) {
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

/// A dictionary of at most `capacity` entries, in which a new entry replaces the oldest.
struct BoundedTable<Value: Sendable>: Sendable {
  private var values: [ShortDigest: Value] = [:]
  private var order: [ShortDigest] = []
  private var next = 0
  private let capacity: Int

  init(capacity: Int) {
    precondition(capacity > 0, "a table without room")
    self.capacity = capacity
  }

  var count: Int { values.count }

  /// The value of a key. Setting `nil` has no effect: entries are removed only when they are the oldest.
  subscript(key: ShortDigest) -> Value? {
    get { values[key] }
    set {
      guard let newValue, values.updateValue(newValue, forKey: key) == nil else { return }
      if order.count < capacity {
        order.append(key)
        return
      }
      values[order[next]] = nil
      order[next] = key
      next = (next + 1) % capacity
    }
  }
}
