import Cryptography
import Enforcement
import JSON
import OAuth
import Policy
import Sealing
import Stores
import Time

/// Keeps the response to a refresh for a short time, for an app that sends the same request twice or did not receive
/// the response (`I-renewal`, `refresh_reuse_window`). Keeps the response to the poll of a device in the same way.
///
/// The store keeps at most one response per refresh token family (all refresh tokens that follow from one code); a new
/// response replaces the previous one, and the end of the family deletes it. The response is sealed (encrypted and
/// authenticated) with a key that depends on the presented refresh token or device code, so that only a holder of this
/// token or code can get the response. The response is bound to the family and to the generation: the number of
/// refreshes before this one.
struct HeldResponses {
  /// The result of `find`.
  enum Found {
    /// The members of the kept response.
    case answer([String: JSONValue])
    /// No response to the presented token is kept: there was no room for it, it was too long, it has expired, a newer
    /// response has replaced it, or the store has lost it.
    case missing
    /// Room for a response is reserved: the request that it answers is in progress.
    case reserved
    /// The kept response answers a request with other parameters or credentials.
    case requestDiffers
  }

  /// The time for which the response to a poll is kept. Devices poll every five seconds.
  static let pollWindow: Seconds = 60
  /// The generation of the response to a poll. No refresh has it.
  private static let generationOfPoll = UInt64.max

  /// The maximum length of a sealed response, in bytes. Token responses with an ID token usually have 2 to 6 KiB.
  private static let maximumLength = 16_384

  private let intercepted: InterceptedRequest
  private let client: Client
  private let window: Seconds
  private let key: StoreKey
  private let binding: SealBinding
  /// The request to the upstream whose credentials and parameters a repeat must have.
  private let request: UpstreamTokenRequest
  /// The scope and the resources in the request of the client, which a repeat must have, too. They may differ from those
  /// in the request to the upstream.
  private let scope: Scope?
  private let requestedResources: [String]
  private var store: any EphemeralStore { intercepted.gateway.resources.store }

  /// The response to a refresh.
  ///
  /// - Parameters:
  ///   - presented: The refresh token as the client sent it.
  ///   - grant: The content of that token.
  init(_ intercepted: InterceptedRequest, _ permit: RefreshPermit, presented: Secret, _ grant: RefreshGrant) {
    self.init(
      intercepted, permit.client, window: permit.client.refreshReuseWindow, grant.family,
      generation: UInt64(clamping: grant.generation), presented: presented, permit.upstream, permit.scope,
      permit.resources)
  }

  /// The response to the poll of a device (RFC 8628, section 3.5).
  ///
  /// - Parameter family: The login of the tokens in the response.
  init(_ intercepted: InterceptedRequest, _ poll: DevicePollPermit, family: TransactionID) {
    self.init(
      intercepted, poll.client, window: HeldResponses.pollWindow, family, generation: HeldResponses.generationOfPoll,
      presented: poll.presentedCode, poll.credentialsForUpstream, nil, [])
  }

  private init(
    _ intercepted: InterceptedRequest, _ client: Client, window: Seconds, _ family: TransactionID, generation: UInt64,
    presented: Secret, _ request: UpstreamTokenRequest, _ scope: Scope?, _ requestedResources: [String]
  ) {
    self.intercepted = intercepted
    self.client = client
    self.window = window
    self.request = request
    self.scope = scope
    self.requestedResources = requestedResources
    key = StoreKey(.answer, id: family)
    binding = key.binding(
      intercepted.gateway.resources.store,
      data: (0..<8).map { UInt8(truncatingIfNeeded: generation >> (8 * $0)) }, secret: presented)
  }

  /// Reserves room for the response before the gateway sends the refresh upstream, or before it marks the code of a
  /// device as spent. Returns false if `refresh_reuse_window` is 0, or if the store is full or unavailable. The caller
  /// continues nevertheless, but does not keep the response. If the store was full or unavailable, a repeat of the
  /// refresh within the window gets 503, and the device of a repeated poll has to start again.
  ///
  /// - Parameter lease: The maximum duration of the upstream request.
  func reserve(for lease: Seconds) async -> Bool {
    guard window > 0 else { return false }
    do throws(StoreError) {
      // `holder` is the client and network to which the store charges the entry.
      try await store.reserve(
        key, bytes: HeldResponses.maximumLength, holder: intercepted.storeHolder(for: client),
        expiry: intercepted.now + lease + window,
        now: intercepted.now)
      return true
    } catch {
      intercepted.trail.findings.append("answer-not-held")
      return false
    }
  }

  /// Stores the response in the reserved room and frees the unused part. Returns the stored bytes, or `nil` if the
  /// response was not stored.
  func keep(_ members: [String: JSONValue]) async -> [UInt8]? {
    let answer = HeldResponse(
      time: intercepted.now, requestDigest: requestDigest, members: JSONValue.text(of: members))
    let sealed = intercepted.gateway.sealer.seal(answer, in: binding).storedBytes
    do throws(StoreError) {
      if sealed.count <= HeldResponses.maximumLength,
        // The reserved room is an entry without bytes.
        try await store.replace(key, [], with: sealed, expiry: intercepted.now + window, now: intercepted.now)
      {
        return sealed
      }
    } catch {
      // A failure of the store has the same result as a lack of room.
    }
    intercepted.trail.findings.append("answer-not-held")
    return nil
  }

  /// Frees the reserved room, or deletes a kept response that must not be sent. Does nothing if another request has
  /// replaced the entry.
  ///
  /// - Parameter entry: The bytes that `keep` returned; empty for reserved room without a response.
  func remove(_ entry: [UInt8] = []) async {
    // If the store is unavailable, the entry stays until it expires.
    _ = try? await store.remove(key, entry, now: intercepted.now)
  }

  /// Returns the kept response if it answers the same request, with `expires_in` reduced by its age.
  func find() async throws(StoreError) -> Found {
    let now = intercepted.now
    guard let sealed = try await store.get(key, now: now) else { return .missing }
    guard !sealed.isEmpty else { return .reserved }
    guard
      let answer = try? intercepted.gateway.sealer.open(HeldResponse.self, from: String(stored: sealed), in: binding),
      var members = JSONValue.members(of: answer.members)
    else { return .missing }
    guard answer.requestDigest == requestDigest else { return .requestDiffers }
    if case .integer(let lifetime) = members["expires_in"] {
      let age = max(0, now - answer.time)
      // The upstream chooses the lifetime, which may be `Int64.min`. Without the inner `max`, the subtraction would
      // overflow and end the process.
      members["expires_in"] = .integer(max(0, max(0, lifetime) - Int64(age.count)))
    }
    return .answer(members)
  }

  /// A digest of the upstream request, including the credentials, and of the scope and the resources in the client's
  /// request.
  private var requestDigest: [UInt8] {
    let parts =
      [request.authorization?.reveal() ?? "", request.body.reveal(), scope?.text ?? ""] + requestedResources
    var text: [UInt8] = []
    // The length of each part precedes the part, so that different requests never give the same text.
    for part in parts { text += Array("\(part.utf8.count):".utf8) + Array(part.utf8) }
    defer { wipe(&text) }
    return sha256(text)
  }
}

/// The stored response to a refresh.
private struct HeldResponse: Sealable {
  static var purpose: Purpose { .storedTokens }
  /// The version of the format. It differs from that of `RevocableTokens`, which is sealed for the same purpose.
  private static let formatVersion: UInt8 = 3
  private static let digestLength = 32

  /// The time of the response.
  let time: UnixTime
  /// A digest of the request that the response answers.
  let requestDigest: [UInt8]
  /// The members of the response as JSON text.
  let members: [UInt8]

  init(time: UnixTime, requestDigest: [UInt8], members: [UInt8]) {
    self.time = time
    self.requestDigest = requestDigest
    self.members = members
  }

  init(from payload: inout PayloadReader) throws(PayloadError) {
    guard try payload.readByte() == HeldResponse.formatVersion else { throw PayloadError() }
    time = UnixTime(seconds: Int64(bitPattern: try payload.readNumber()))
    requestDigest = try payload.readBytes(count: HeldResponse.digestLength)
    members = try payload.readBytes()
  }

  func write(to payload: inout PayloadWriter) {
    payload.writeByte(HeldResponse.formatVersion)
    payload.writeNumber(UInt64(bitPattern: time.seconds))
    payload.writeBytes(withoutLength: requestDigest)
    payload.writeBytes(members)
  }
}
