import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Stores

/// The revocation endpoint (RFC 7009): a sealed refresh token becomes the upstream's own; everything else passes as the
/// client sent it.
struct RevocationEndpoint {
  private let exchange: Interception

  init(_ exchange: Interception) {
    self.exchange = exchange
  }

  func respond() async -> Reply {
    let incoming = exchange.request
    let request = TokenRequest(
      method: incoming.method, query: incoming.query, contentTypes: incoming.headers.all("Content-Type"),
      contentEncodings: incoming.headers.all("Content-Encoding"),
      authorization: incoming.headers.all("Authorization"), body: incoming.body)
    let claimed = (try? request.clientAuthentication())?.map(\.clientID)
    exchange.note(clientID: claimed?.rawValue)
    if let throttled = exchange.throttledRequest(of: claimed) { return .response(throttled) }
    let token = request.parameters[.token].map { Secret($0) }
    let opened: Opened<RefreshGrant> = token.map { exchange.gateway.sealer.opened($0.reveal()) } ?? .invalid
    let outcome = Enforcement.decideRevocation(request, opened: opened, policy: exchange.policy)
    exchange.trail.note(outcome)
    switch outcome.decision {
    case .reject(let refusal):
      // Whose token it is, nobody else learns: to them it is an invalid one, and that is no error (RFC 7009, section 2.2).
      if refusal.rejection == .refreshTokenForeign { return .response(exchange.revoked()) }
      return .response(exchange.throttledAuthentication(of: claimed, refusal) ?? exchange.tokenRefusal(refusal))
    case .pass:
      guard Enforcement.mode(of: request, policy: exchange.policy) == .observe else {
        return await send(exchange.passing(request))
      }
      return await exchange.observe([request.parameters], from: claimed?.rawValue) { exchange.tokenRefusal($0) }
    case .forward(let form):
      if case .value(let grant) = opened {
        exchange.trail.family = grant.family
        guard await isEnded(grant) else { return .response(exchange.tokenRefusal(.here(.storeUnavailable))) }
      }
      var headers: Headers = [
        "Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json",
        "Accept-Encoding": "identity",
      ]
      if let authorization = form.authorization { headers.append("Authorization", authorization.reveal()) }
      return await send(
        OutboundRequest(
          method: "POST", target: String(incoming.path), headers: headers, body: Array(form.body.reveal().utf8),
          peer: incoming.peer))
    }
  }

  /// The family ends here too: an upstream that does not rotate knows only one token, of which there may be others sealed.
  private func isEnded(_ grant: RefreshGrant) async -> Bool {
    guard let client = exchange.policy.clients[grant.clientID] else { return true }
    do throws(StoreError) {
      _ = try await exchange.endFamily(grant.family, of: client, revoking: grant.generation + 1)
      return true
    } catch {
      return false
    }
  }

  private func send(_ outbound: OutboundRequest) async -> Reply {
    do throws(UpstreamFailure) {
      let answer = try await exchange.upstream.send(outbound)
      exchange.trail.upstreamStatus = answer.head.status
      var response = answer.head
      response.headers.set("Cache-Control", "no-store")
      return .relay(answer, response)
    } catch {
      return .response(exchange.tokenFailure(error))
    }
  }
}
