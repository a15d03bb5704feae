import HTTP
import OAuth
import Policy
import Proxy

/// What passes to the upstream's token and revocation endpoints as the client sent it.
extension Interception {
  /// The request as it came, without credentials that prove a client to the gateway: the upstream does not know them,
  /// cannot use them, and must not learn them (`I-credentials`).
  func passing(_ parsed: TokenRequest) -> OutboundRequest {
    var outbound = unchanged()
    let inHeader = request.headers.all("Authorization").compactMap { try? BasicCredentials(parsing: $0).user }
    let named = inHeader + parsed.parameters.all(.clientID)
    guard named.contains(where: provesItselfHere) else { return outbound }
    outbound.target = String(request.path)
    outbound.headers.remove("Authorization")
    outbound.headers.remove("Content-Encoding")
    outbound.headers.set("Content-Type", "application/x-www-form-urlencoded")
    let entries = parsed.parameters.entries.filter { !ParameterNames.clientAuthentication.contains($0.parameter) }
    // Of a body that is no form nothing was read, and nothing of it goes on.
    outbound.body = Array(FormEncoding.serialise(entries).utf8)
    return outbound
  }

  private func provesItselfHere(_ id: String) -> Bool {
    guard let client = policy.clients[ClientID(id)] else { return false }
    return client.secret != nil && client.upstream.clientID != client.id
  }
}
