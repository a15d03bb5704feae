import OAuth
import Policy
import YAML

extension PolicyReader {
  /// Settles who asks the user, which needs all clients: an upstream client that several share has asked for one of
  /// them only (`I-consent`; RFC 8252, section 8.6).
  func settleConsent() {
    let users = usersOfForeignClients()
    var seen: [ClientID: Int] = [:]
    // From the back: the note belongs to the second in the file.
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
              + "passes as one of the others, and the upstream takes what the user granted one for all; use an upstream "
              + "client for each")
        }
      }
      let reason = Self.reasonToAsk(client, sharing: count)
      let standard = reason == nil ? ConsentOwner.upstream : .gateway
      let consent = entry.consent == nil ? standard : client.consent
      if let place = entry.consent, consent == .upstream, let reason {
        report(
          .consentUpstream, .warning, place,
          "client \(quoted(client.id.rawValue)) is not asked about by the gateway although \(reason); use "
            + "`consent: gateway`")
      }
      if consent != client.consent {
        var settings = client.settings
        settings.consent = consent
        clients.replace(Client(settings), at: position)
      }
    }
  }

  /// How many clients use each upstream client that is not only its namesake's.
  private func usersOfForeignClients() -> [ClientID: Int] {
    var users: [ClientID: Int] = [:]
    for client in clients.entries.lazy.compactMap(\.client) where client.upstream.clientID != client.id {
      users[client.upstream.clientID, default: 0] += 1
    }
    for id in Array(users.keys) where clients[id]?.client?.upstream.clientID == id { users[id, default: 0] += 1 }
    return users
  }

  /// Why the upstream would not ask about this very client; `nil` when it would.
  private static func reasonToAsk(_ client: Client, sharing count: Int) -> String? {
    if client.registration == .dynamic { return "nobody vouches for it" }
    if client.upstream.clientID != client.id { return "the upstream knows it under another id" }
    if count > 1 { return "the upstream client is shared" }
    for uri in client.redirectURIs {
      switch uri.kind {
      case .privateUse, .broker: return "any app can take a private-use scheme"
      case .loopback, .localhost: return "any program can listen on a loopback port"
      case .https: continue
      }
    }
    return nil
  }
}
