import Enforcement
import HTTP
import JSON
import OAuth
import Policy
import Proxy
import Stores
import Telemetry
import Time

/// The check of an access token for a resource server: the gateway's record and, if the policy has credentials of the
/// resource server, the upstream's own introspection endpoint. Both must say that the token is active.
struct TokenCheck {
  /// An active token.
  struct ActiveToken {
    let record: AccessTokenRecord
    /// The members `sub` and `username` of the upstream's response.
    let user: [String: JSONValue]

    /// The client of the token; `nil` if several clients have got the token.
    var client: ClientID? { record.isShared ? nil : record.holder.clientID }
  }

  /// The reason why a check has no result.
  enum Failure: Error {
    case store
    case upstream(UpstreamFailure?)
  }

  /// The header fields of a form that the gateway sends.
  private static let formFields: Headers = [
    "Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json", "Accept-Encoding": "identity",
  ]

  let gateway: Gateway
  let upstream: Upstream
  let peer: Peer
  /// The record of the request for the log, to which the check adds the token's client and login.
  let trail: AuditTrail

  /// Returns the token if it is active for the resource; `nil` if it is not, or if the gateway does not know it. Counts
  /// the result, and adds it to the findings unless the token is active.
  func active(_ token: Secret, for resource: Resource) async throws(Failure) -> ActiveToken? {
    do throws(Failure) {
      let (active, outcome) = try await check(token, for: resource)
      gateway.recordTokenCheck(outcome, at: trail.endpoint)
      if active == nil { trail.findings.append("token-inactive:\(outcome.rawValue)") }
      return active
    } catch {
      switch error {
      case .store: gateway.recordTokenCheck(.storeUnavailable, at: trail.endpoint)
      case .upstream: gateway.recordTokenCheck(.upstreamUnavailable, at: trail.endpoint)
      }
      throw error
    }
  }

  private func check(
    _ token: Secret, for resource: Resource
  ) async throws(Failure) -> (ActiveToken?, TokenCheckOutcome) {
    let found: AccessTokens.FoundToken?
    do throws(StoreError) {
      found = try await gateway.accessTokens.find(
        token, for: resource, now: gateway.now, permitted: gateway.permitted)
    } catch {
      throw .store
    }
    guard let found else { return (nil, .unknown) }
    let record = found.record
    trail.client = record.holder.clientID.shortForm.rawValue
    trail.clientIsConfigured = gateway.policy.clients[record.holder.clientID] != nil
    trail.family = record.holder.family
    guard found.outcome == .active else { return (nil, found.outcome) }
    guard let form = Enforcement.upstreamIntrospection(of: token, for: resource),
      let path = gateway.policy.upstream.endpoints.introspection.first
    else { return (ActiveToken(record: record, user: [:]), .active) }
    guard let members = try await ask(form, at: path), members["active"] == .bool(true) else {
      return (nil, .inactiveUpstream)
    }
    let user = members.filter { ["sub", "username"].contains($0.key) && $0.value.text != nil }
    return (ActiveToken(record: record, user: user), .active)
  }

  /// Returns the members of the upstream's response; `nil` for a response of another form.
  private func ask(_ form: UpstreamTokenRequest, at path: String) async throws(Failure) -> [String: JSONValue]? {
    var headers = TokenCheck.formFields
    if let authorization = form.authorization { headers.append("Authorization", authorization.reveal()) }
    gateway.identify(&headers, trail)
    let (status, body): (Int, [UInt8])
    do throws(UpstreamFailure) {
      let answer = try await upstream.send(
        OutboundRequest(
          method: "POST", target: path, headers: headers, body: Array(form.body.reveal().utf8), peer: peer))
      status = answer.head.status
      body = try await answer.content()
    } catch {
      throw .upstream(error)
    }
    // Any other status says nothing about the token.
    guard status == 200 else { throw .upstream(nil) }
    return JSONValue.members(of: body)
  }
}
