import Cryptography
import Enforcement
import OAuth
import Policy
import Sealing
import Stores

/// The answer to a refresh, held for an app that sends the request twice or lost the answer (`I-renewal`,
/// `refresh_reuse_window`).
///
/// The store has one for a family, in place of that of the generation before. It is sealed with a key that the presented
/// token gives, so that only a holder of that token gets it, and bound to its family and generation.
struct HeldResponses {
  enum Found {
    case answer([String: JSONValue])
    /// There was no room for it, or it was too long, or the store lost it.
    case missing
    case ofAnotherRequest
  }

  /// Bytes of a sealed answer. Token answers with an ID token have 2 to 6 KiB.
  private static let longest = 16_384

  private let intercepted: InterceptedRequest
  private let permit: RefreshPermit
  private let key: StoreKey
  private let binding: SealBinding
  private var store: any EphemeralStore { intercepted.gateway.resources.store }
  private var window: Int64 { Int64(permit.client.refreshReuseWindow) }

  /// - Parameters:
  ///   - presented: The refresh token as the client sent it.
  ///   - grant: What it opened to.
  init(_ intercepted: InterceptedRequest, _ permit: RefreshPermit, presented: Secret, _ grant: RefreshGrant) {
    self.intercepted = intercepted
    self.permit = permit
    key = StoreKey(.answer, id: grant.family)
    let generation = UInt64(clamping: grant.generation)
    binding = key.binding(
      intercepted.gateway.resources.store,
      data: (0..<8).map { UInt8(truncatingIfNeeded: generation >> (8 * UInt64($0))) }, secret: presented)
  }

  /// Reserves room for the answer before the upstream is asked. Returns false where there is none, or no window: the
  /// refresh goes on without it, and a repeat gets 503.
  ///
  /// - Parameter lease: Seconds that the upstream may take.
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

  /// Fills the room that was reserved, and gives the rest back. Returns the entry's value; `nil` if it was not held.
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
      // As without room.
    }
    intercepted.trail.findings.append("answer-not-held")
    return nil
  }

  /// Gives the reserved room back, or deletes an answer that must not be given, unless another request has replaced it.
  ///
  /// - Parameter entry: What the entry holds.
  func remove(_ entry: [UInt8] = []) async {
    // A store that is away forgets it at its expiry.
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

  /// The request as it goes upstream, with credentials and all forwarded parameters, and the client's own scope and
  /// resources, which may not go there.
  private var requestDigest: [UInt8] {
    let parts =
      [permit.upstream.authorization?.reveal() ?? "", permit.upstream.body.reveal(), permit.scope?.text ?? ""]
      + permit.resources
    var text: [UInt8] = []
    // A length in front of each part, so that no two requests give one text.
    for part in parts { text += Array("\(part.utf8.count):".utf8) + Array(part.utf8) }
    defer { wipe(&text) }
    return sha256(text)
  }
}

/// The answer to a refresh, as the store holds it.
private struct HeldAnswer: Sealable {
  static var purpose: Purpose { .kept }
  /// Differs from that of `KeptTokens`, which has the same purpose.
  private static let layout: UInt8 = 3
  private static let digestLength = 32

  /// Seconds since 1970.
  let time: Int64
  /// A digest of the request that it belongs to.
  let request: [UInt8]
  /// JSON text.
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
