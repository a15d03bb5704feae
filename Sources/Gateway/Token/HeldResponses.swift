import Cryptography
import Enforcement
import OAuth
import Policy
import Sealing
import Stores

/// Holds the response to a refresh for an app that sends the request twice or did not receive the response
/// (`I-renewal`, `refresh_reuse_window`).
///
/// The store has one response per family, which replaces that of the previous generation. It is sealed with a key that
/// is derived from the presented token, so that only a holder of that token gets it, and bound to its family and
/// generation.
struct HeldResponses {
  enum Found {
    case answer([String: JSONValue])
    /// There was no room for the response, it was too long, or the store lost it.
    case missing
    case ofAnotherRequest
  }

  /// The longest sealed response, in bytes. Token responses with an ID token have 2 to 6 KiB.
  private static let longest = 16_384

  private let intercepted: InterceptedRequest
  private let permit: RefreshPermit
  private let key: StoreKey
  private let binding: SealBinding
  private var store: any EphemeralStore { intercepted.gateway.resources.store }
  private var window: Int64 { Int64(permit.client.refreshReuseWindow) }

  /// - Parameters:
  ///   - presented: The refresh token as the client sent it.
  ///   - grant: The content of that token.
  init(_ intercepted: InterceptedRequest, _ permit: RefreshPermit, presented: Secret, _ grant: RefreshGrant) {
    self.intercepted = intercepted
    self.permit = permit
    key = StoreKey(.answer, id: grant.family)
    let generation = UInt64(clamping: grant.generation)
    binding = key.binding(
      intercepted.gateway.resources.store,
      data: (0..<8).map { UInt8(truncatingIfNeeded: generation >> (8 * UInt64($0))) }, secret: presented)
  }

  /// Reserves room for the response before the gateway sends the refresh upstream. Returns false if there is no room or
  /// no window: the refresh continues without it, and a repeated request gets 503.
  ///
  /// - Parameter lease: The time that the upstream may take, in seconds.
  func reserve(for lease: Int64) async -> Bool {
    guard window > 0 else { return false }
    do throws(StoreError) {
      try await store.reserve(
        key, bytes: HeldResponses.longest, holder: intercepted.holder(permit.client),
        expiry: intercepted.now + lease + window,
        now: intercepted.now)
      return true
    } catch {
      intercepted.trail.findings.append("answer-not-held")
      return false
    }
  }

  /// Stores the response in the reserved room and frees the rest. Returns the entry's value; `nil` if it was not
  /// stored.
  func hold(_ members: [String: JSONValue]) async -> [UInt8]? {
    let answer = HeldAnswer(time: intercepted.now, request: requestDigest, members: JSONValue.text(of: members))
    let sealed = intercepted.gateway.sealer.seal(answer, in: binding).storedBytes
    do throws(StoreError) {
      if sealed.count <= HeldResponses.longest,
        try await store.replace(key, [], with: sealed, expiry: intercepted.now + window, now: intercepted.now)
      {
        return sealed
      }
    } catch {
      // Handled below, as if there were no room.
    }
    intercepted.trail.findings.append("answer-not-held")
    return nil
  }

  /// Frees the reserved room, or deletes a response that must not be sent, unless another request has replaced it.
  ///
  /// - Parameter entry: The value of the entry.
  func remove(_ entry: [UInt8] = []) async {
    // If the store is unavailable, the entry expires.
    _ = try? await store.remove(key, entry, now: intercepted.now)
  }

  func find() async throws(StoreError) -> Found {
    let now = intercepted.now
    guard let sealed = try await store.get(key, now: now),
      let answer = try? intercepted.gateway.sealer.open(HeldAnswer.self, from: String(stored: sealed), in: binding),
      var members = JSONValue.members(of: answer.members)
    else { return .missing }
    guard answer.request == requestDigest else { return .ofAnotherRequest }
    if case .integer(let lifetime) = members["expires_in"] {
      members["expires_in"] = .integer(max(0, lifetime - max(0, now - answer.time)))
    }
    return .answer(members)
  }

  /// A digest of the request as it goes upstream, with credentials and all forwarded parameters, and of the client's
  /// own scope and resources, which may not go upstream.
  private var requestDigest: [UInt8] {
    let parts =
      [permit.upstream.authorization?.reveal() ?? "", permit.upstream.body.reveal(), permit.scope?.text ?? ""]
      + permit.resources
    var text: [UInt8] = []
    // Each part has its length in front, so that no two requests give the same text.
    for part in parts { text += Array("\(part.utf8.count):".utf8) + Array(part.utf8) }
    defer { wipe(&text) }
    return sha256(text)
  }
}

/// The stored response to a refresh.
private struct HeldAnswer: Sealable {
  static var purpose: Purpose { .kept }
  /// Differs from the layout of `RevocableTokens`, which has the same purpose.
  private static let layout: UInt8 = 3
  private static let digestLength = 32

  /// The time of the response, in seconds since 1970.
  let time: Int64
  /// A digest of the request that the response answers.
  let request: [UInt8]
  /// The members of the response as JSON text.
  let members: [UInt8]

  init(time: Int64, request: [UInt8], members: [UInt8]) {
    self.time = time
    self.request = request
    self.members = members
  }

  init(from payload: inout PayloadReader) throws(PayloadError) {
    guard try payload.byte() == HeldAnswer.layout else { throw PayloadError() }
    time = Int64(bitPattern: try payload.number())
    request = try payload.fixed(HeldAnswer.digestLength)
    members = try payload.data()
  }

  func write(to payload: inout PayloadWriter) {
    payload.byte(HeldAnswer.layout)
    payload.number(UInt64(bitPattern: time))
    payload.fixed(request)
    payload.data(members)
  }
}
