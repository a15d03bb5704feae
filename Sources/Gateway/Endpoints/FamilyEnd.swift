import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Sealing
import Stores

/// The end of a family of refresh tokens: here at once, and upstream where that has a revocation endpoint.
extension Interception {
  /// Refuses the tokens of a family from now on.
  ///
  /// - Parameters:
  ///   - presented: The upstream's token that is known, should nothing be kept with the family.
  ///   - first: What was kept of the family's first tokens, should none of them have been used yet.
  ///   - revocation: The request that ends a token upstream.
  func endFamily(
    _ family: TransactionID, of client: Client, presented: Secret? = nil, kept first: [UInt8] = [],
    revocation: (Secret, TokenTypeHint) -> UpstreamTokenRequest
  ) async throws(StoreError) {
    let kept = try await gateway.resources.families.kill(family, expiry: now + Int64(client.refreshIdle), now: now)
    guard let kept else { return }
    await revoke(kept.isEmpty ? first : kept, or: presented, with: revocation)
  }

  /// What is to be kept of an answer so that its tokens can be revoked, sealed; `nil` where the upstream cannot revoke.
  func keep(_ members: [String: JSONValue], refreshToken: Secret? = nil) -> [UInt8]? {
    guard !policy.upstream.endpoints.revocation.isEmpty else { return nil }
    let tokens = KeptTokens(
      accessToken: members["access_token"]?.text.map { Secret($0) },
      refreshToken: refreshToken ?? members["refresh_token"]?.text.map { Secret($0) })
    return Array(gateway.sealer.seal(tokens).utf8)
  }

  /// Revokes upstream what was kept (RFC 7009). The client's answer does not depend on it; the log says what became of it.
  func revoke(
    _ kept: [UInt8], or presented: Secret?, with revocation: (Secret, TokenTypeHint) -> UpstreamTokenRequest
  ) async {
    guard let path = policy.upstream.endpoints.revocation.first else {
      // Access tokens go on until they expire: nobody here can end them.
      trail.findings.append("tokens-not-revoked")
      return
    }
    let tokens = try? gateway.sealer.open(KeptTokens.self, from: String(decoding: kept, as: UTF8.self))
    var forms: [UpstreamTokenRequest] = []
    if let token = tokens?.refreshToken ?? presented { forms.append(revocation(token, .refreshToken)) }
    if let token = tokens?.accessToken { forms.append(revocation(token, .accessToken)) }
    for form in forms {
      let isRevoked = await send(form, to: path)
      trail.findings.append(isRevoked ? "token-revoked" : "revocation-failed")
    }
  }

  private func send(_ form: UpstreamTokenRequest, to path: String) async -> Bool {
    var headers: Headers = ["Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"]
    if let authorization = form.authorization { headers.append("Authorization", authorization.reveal()) }
    let outbound = OutboundRequest(
      method: "POST", target: path, headers: headers, body: Array(form.body.reveal().utf8), peer: request.peer)
    do throws(UpstreamFailure) {
      let answer = try await upstream.send(outbound)
      _ = try await answer.collect()
      return (200..<300).contains(answer.head.status)
    } catch {
      return false
    }
  }
}

/// The upstream's tokens that a family stands for, as the store keeps them: sealed.
struct KeptTokens: Sealable {
  static var purpose: Purpose { .kept }
  private static let layout: UInt8 = 1

  let accessToken: Secret?
  let refreshToken: Secret?

  init(accessToken: Secret?, refreshToken: Secret?) {
    self.accessToken = accessToken
    self.refreshToken = refreshToken
  }

  init(from payload: inout PayloadReader) throws(PayloadError) {
    guard try payload.byte() == KeptTokens.layout else { throw PayloadError() }
    let access = try payload.text()
    let refresh = try payload.text()
    accessToken = access.isEmpty ? nil : Secret(access)
    refreshToken = refresh.isEmpty ? nil : Secret(refresh)
  }

  func write(to payload: inout PayloadWriter) {
    payload.byte(KeptTokens.layout)
    payload.text(accessToken?.reveal() ?? "")
    payload.text(refreshToken?.reveal() ?? "")
  }
}
