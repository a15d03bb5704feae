import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Sealing
import Stores
import Time

/// Ends refresh token families. A family is the set of refresh tokens that follow from one code. The gateway refuses
/// its tokens from then on, and also revokes tokens at the upstream if the upstream has a revocation endpoint.
extension InterceptedRequest {
  /// A token that the upstream issued, and its `token_type_hint` (RFC 7009, section 2.1).
  typealias UpstreamToken = (token: Secret, hint: TokenTypeHint)

  /// Returns the client and network to which the store entries of this request are charged.
  func holder(_ client: Client) -> StoreHolder {
    StoreHolder(client: client.id, address: request.peer.address, isLoopback: request.peer.isLoopback)
  }

  /// Ends a family: from now on the gateway refuses its tokens. Returns true if the family had not ended before.
  ///
  /// - Parameter generations: The number of token generations whose upstream tokens the caller revokes. The upstream
  ///   token of a later generation is revoked when a client presents it.
  func revokeFamily(
    _ family: TransactionID, of client: Client, revoking generations: Int
  ) async throws(StoreError) -> Bool {
    let lived = try await gateway.resources.families.end(
      family, revoking: generations, holder: holder(client), expiry: now + client.refreshIdle,
      adoptedUntil: client.rawRefreshUntil ?? 0, now: now)
    _ = try await gateway.resources.store.take(StoreKey(.answer, id: family), now: now)
    return lived
  }

  /// Returns the tokens in a token response.
  func upstreamTokens(in members: [String: JSONValue]) -> [UpstreamToken] {
    var tokens: [UpstreamToken] = []
    if let token = members["refresh_token"]?.text { tokens.append((Secret(token), .refreshToken)) }
    if let token = members["access_token"]?.text { tokens.append((Secret(token), .accessToken)) }
    return tokens
  }

  /// Revokes tokens at the upstream (RFC 7009). The result is only logged: the response to the client does not depend
  /// on it.
  func revoke(_ tokens: [UpstreamToken], with revocation: (Secret, TokenTypeHint) -> UpstreamTokenRequest) async {
    guard let path = policy.upstream.endpoints.revocation.first else {
      // Without a revocation endpoint, tokens of the upstream stay valid until they expire.
      trail.findings.append("tokens-not-revoked")
      return
    }
    for token in tokens {
      let isRevoked = await send(revocation(token.token, token.hint), to: path)
      trail.findings.append(isRevoked ? "token-revoked" : "revocation-failed")
    }
  }

  private func send(_ form: UpstreamTokenRequest, to path: String) async -> Bool {
    do throws(UpstreamFailure) {
      let answer = try await post(form, to: path)
      _ = try await answer.collect()
      return (200..<300).contains(answer.head.status)
    } catch {
      return false
    }
  }
}

/// The upstream tokens that were issued for a code. They are kept in the store, sealed (encrypted and authenticated),
/// so that a replay of the code revokes them.
struct RevocableTokens: Sealable {
  static var purpose: Purpose { .kept }
  /// The number of the format.
  private static let layout: UInt8 = 1

  let tokens: [InterceptedRequest.UpstreamToken]

  init(_ tokens: [InterceptedRequest.UpstreamToken]) {
    self.tokens = tokens
  }

  init(from payload: inout PayloadReader) throws(PayloadError) {
    guard try payload.readByte() == RevocableTokens.layout else { throw PayloadError() }
    let access = try payload.readText()
    let refresh = try payload.readText()
    var tokens: [InterceptedRequest.UpstreamToken] = []
    if !refresh.isEmpty { tokens.append((Secret(refresh), .refreshToken)) }
    if !access.isEmpty { tokens.append((Secret(access), .accessToken)) }
    self.tokens = tokens
  }

  func write(to payload: inout PayloadWriter) {
    payload.writeByte(RevocableTokens.layout)
    payload.writeText(tokens.first { $0.hint == .accessToken }?.token.reveal() ?? "")
    payload.writeText(tokens.first { $0.hint == .refreshToken }?.token.reveal() ?? "")
  }
}
