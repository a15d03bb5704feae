import OAuth
import Policy
import YAML

extension PolicyReader {
  /// Decides for each client which server asks the user for consent (`I-consent`).
  ///
  /// This needs all clients: if several share an upstream client, the upstream cannot tell them apart, and the consent
  /// that the user gave to one counts for all (RFC 8252, section 8.6).
  func settleConsent() {
    let users = usersOfForeignClients()
    var seen: [ClientID: Int] = [:]
    // In reverse order, so that the warning is at the second client in the file that shares the upstream client.
    for position in clients.entries.indices.reversed() {
      let entry = clients.entries[position]
      guard let client = entry.client else { continue }
      let upstreamID = client.upstream.clientID
      let count = users[upstreamID] ?? 1
      if count > 1 {
        seen[upstreamID, default: 0] += 1
        if seen[upstreamID] == count - 1 {
          report(
            .sharedUpstreamClient, .warning, entry.upstreamID ?? entry.place,
            "upstream client \(quoted(upstreamID.rawValue)) serves \(count) clients, so an ID or access token of one "
              + "is valid for the others, and the upstream applies the user's consent for one to all; use an upstream "
              + "client for each")
        }
      }
      let reason = Self.reasonToAsk(client, sharing: count)
      let standard = reason == nil ? ConsentOwner.upstream : .gateway
      let consent = entry.consent == nil ? standard : client.consent
      if let place = entry.consent, consent == .upstream, let reason {
        report(
          .consentUpstream, .warning, place,
          "the gateway does not ask for consent for client \(quoted(client.id.rawValue)) although \(reason); use "
            + "`consent: gateway`")
      }
      if consent != client.consent {
        var settings = client.settings
        settings.consent = consent
        clients.replace(Client(settings), at: position)
      }
    }
  }

  /// Returns the number of clients of each upstream client that at least one client with another id uses.
  private func usersOfForeignClients() -> [ClientID: Int] {
    var users: [ClientID: Int] = [:]
    for client in clients.entries.lazy.compactMap(\.client) where client.upstream.clientID != client.id {
      users[client.upstream.clientID, default: 0] += 1
    }
    for id in Array(users.keys) where clients[id]?.client?.upstream.clientID == id { users[id, default: 0] += 1 }
    return users
  }

  /// Returns the reason why the upstream would not ask about exactly this client; `nil` if it would.
  private static func reasonToAsk(_ client: Client, sharing count: Int) -> String? {
    if client.registration == .dynamic { return "the operator does not vouch for it" }
    if client.upstream.clientID != client.id { return "the upstream knows it under another id" }
    if count > 1 { return "the upstream client is shared" }
    for uri in client.redirectURIs {
      switch uri.kind {
      case .privateUse, .broker: return "any app can use a private-use scheme"
      case .loopback, .localhost: return "any program can listen on a loopback port"
      case .https: continue
      }
    }
    return nil
  }
}
