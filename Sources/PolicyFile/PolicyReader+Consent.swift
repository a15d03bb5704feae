import OAuth
import Policy
import YAML

extension PolicyReader {
  /// Settles who asks the user, which needs all clients: an upstream client that several share has asked for one of
  /// them only (`I-consent`; RFC 8252, section 8.6).
  func finishClients() -> [ClientID: Client] {
    var users: [ClientID: Int] = [:]
    users.reserveCapacity(clients.entries.count)
    for index in clients.entries.indices { users[clients.entries[index].client.upstream.clientID, default: 0] += 1 }
    var seen: [ClientID: Int] = [:]
    var result: [ClientID: Client] = [:]
    result.reserveCapacity(clients.entries.count)
    // From the back, so that every entry is moved rather than copied; the note belongs to the second in the file.
    while let entry = clients.entries.popLast() {
      var client = entry.client
      let upstreamID = client.upstream.clientID
      let count = users[upstreamID] ?? 1
      if count > 1 {
        seen[upstreamID, default: 0] += 1
        if seen[upstreamID] == count - 1 {
          note(
            .sharedUpstreamClient, entry.upstreamID ?? entry.node,
            "upstream client \(quoted(upstreamID.rawValue)) serves \(count) clients, so what the user granted one of "
              + "them the upstream takes for all; the gateway asks for each")
        }
      }
      let reason = Self.reasonToAsk(client, sharing: count)
      client.consent = entry.consent?.value ?? (reason == nil ? .upstream : .gateway)
      if let consent = entry.consent, consent.value == .upstream, let reason {
        warn(
          .consentUpstream, consent.node,
          "client \(quoted(client.id.rawValue)) is not asked about by the gateway although \(reason); use "
            + "`consent: gateway`")
      }
      result[client.id] = client
    }
    return result
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
